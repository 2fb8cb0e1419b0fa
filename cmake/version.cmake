# Run at every build: writes what --version says, the commit with it where this is a clone. The file changes only when the text does.
#   cmake -DVERSION=0.1.0 -DSOURCE=DIR -DOUT=FILE -P version.cmake
set(text "${VERSION}")
if(EXISTS ${SOURCE}/.git) # not of a clone that we merely lie in
    execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --exclude=* --abbrev=10
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit)
    string(APPEND text "+${commit}")
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define VISD_VERSION \"${text}\"\n")
