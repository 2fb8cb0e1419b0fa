"""Other programs' files: each format with files written here, whose triangles, units and axes are known; what is read wrongly is refused by name;
and a reader that crashes, hangs or wants too much costs one line."""

import json
import math
import os
import select
import shutil
import signal
import struct
import subprocess
import zipfile

SHARED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "models")


def write(t, name, content):
    path = f"{t.tmp}/{name}"
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def objects(t, scene):
    return [json.loads(line) for line in t.visctl("objects", scene).stdout.splitlines()]


SCENES = iter(range(1000000))


def load(t, path, *flags):
    """The last line of load, and the objects; the scene is gone again."""
    scene = f"s{next(SCENES)}"
    done = t.visctl("load", path, "--scene", scene, *flags)
    rows = objects(t, scene)
    t.visctl("scene", "rm", scene)
    return {**json.loads(done.stdout.splitlines()[-1]), "notes": done.stderr}, rows


def refused(t, path, *flags, says):
    done = t.visctl("load", path, "--scene", "never", *flags, check=False)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, f"{path}: {done.returncode} {done.stdout!r} {done.stderr!r}"
    assert says in done.stderr and "nothing was loaded" in done.stderr, f"{path}: {done.stderr!r}, not {says!r}"
    assert "never" not in t.visctl("scene", "ls").stdout, f"{path} left a scene behind"
    return done.stderr


def near(row, low, high):
    assert row["bounds"], row
    for have, want in zip(row["bounds"], (low, high)):
        assert all(abs(a - b) <= 2e-6 * max(1, *map(abs, want)) for a, b in zip(have, want)), f"{row['name']}: {row['bounds']}, not {low} to {high}"


# --- OBJ, STL, PLY -------------------------------------------------------------------------------------------------------

QUADS = """v 0 0 0
v 1 0 0
v 1 2 0
v 0 2 0
v 0 0 4
"""


def test_obj(t):
    t.daemon()
    write(t, "m.mtl", "newmtl glass\nd 0.4\nnewmtl wall\nKd 1 0 0\n")
    path = write(t, "a.OBJ", QUADS + """mtllib m.mtl
o Wall
usemtl wall
f 1 2 3 4
usemtl glass
f -5 -4 -1
o Pane with/a slash
usemtl glass
f 1 2 \\
  5
o Pane	with another
f 1 2 5
g edges
l 1 2 5
p 3
""")
    said, rows = load(t, path)
    assert (said["objects"], said["meshes"], said["triangles"], said["notes"]) == (4, 3, 5, ""), said
    assert [r["name"] for r in rows] == ["Wall", "Pane with/a slash", "Pane\twith another", "edges"], rows
    assert [r["flags"] for r in rows] == [[], ["see_through"], ["see_through"], []], rows
    near(rows[0], (0, 0, 0), (1, 2, 4))
    near(rows[1], (0, 0, 0), (1, 0, 4))
    near(rows[3], (0, 0, 0), (1, 2, 4))
    assert rows[3]["mesh"] is None, "lines and points hide nothing"
    _, rows = load(t, path, "--unit", "mm", "--up", "z")
    near(rows[0], (0, 0, -0.002), (0.001, 0.004, 0))
    _, rows = load(t, path, "--unit", "0.5", "--up", "x")
    near(rows[0], (-1, 0, 0), (0, 0.5, 2))
    other = write(t, "a.model", open(path).read())
    said, _ = load(t, other, "--format", "OBJ")
    assert said["objects"] == 4
    said, rows = load(t, write(t, "lost.obj", QUADS + "mtllib none.mtl\nusemtl x\nf 1 2 3\n"))
    assert "materials are not known" in said["notes"] and rows[0]["flags"] == [], said


def test_obj_refused(t):
    t.daemon()
    for text, says in (("f 1 2 6\n", 'line 6: "6" names no vertex; there are 5'), ("f 1 2 0\n", '"0" names no vertex'), ("f -1 -2 -6\n", '"-6" names no vertex'),
                       ("f 1 2 x\n", '"x" names no vertex'), ("v 1 2\nf 1 2 3\n", "line 6: a vertex has three coordinates"),
                       ("v 1,5 2 3\nf 1 2 3\n", 'line 6: "1,5" is no number'), ("v nan 0 0\nf 1 2 6\n", "not finite"), ("v 1e39 0 0\nf 1 2 6\n", "1e+39"),
                       ("f 1 2 3\ncstype bezier\ndeg 1 1\nsurf 0 1 0 1 1 2 3 4\nend\n", 'line 9: "surf" (a free-form curve'),
                       ("f 1 2 3\ncall other.obj\n", '"call"'), ("fo 1 2 3\n", '"fo" is not read')):
        refused(t, write(t, "bad.obj", QUADS + text), says=says)
    refused(t, write(t, "utf16.obj", (QUADS + "f 1 2 3\n").encode("utf-16")), says="another encoding")
    said, rows = load(t, write(t, "part.obj", QUADS + "f 1 2 3\ncurv 0 1 1 2\n"), "--partial")
    assert len(rows) == 1 and "not all of it was loaded" in said["notes"], said
    said, rows = load(t, write(t, "far.obj", "v 5000000 0 0\nv 5000001 0 0\nv 5000001 1 0\nf 1 2 3\n"))
    assert "coordinates of up to 5e+06 were kept to 0.3 m only" in said["notes"], said
    said, rows = load(t, write(t, "cloud.obj", QUADS))
    assert said["triangles"] == 0
    near(rows[0], (0, 0, 0), (1, 2, 4))


def stl(count, triangles, head=b"binary"):
    return b"".join([head.ljust(80, b"\0"), struct.pack("<I", count)] +
                    [struct.pack("<12fH", 0, 0, 1, i, 0, 0, i + 1, 0, 0, i, 3, 5, 0) for i in range(triangles)])


FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 3 5\nendloop\nendfacet\n"


def test_stl(t):
    t.daemon()
    for name, content in (("b.stl", stl(7, 7)), ("c.STL", stl(7, 7, b"solid that is none"))):
        said, rows = load(t, write(t, name, content), "--unit", "in", "--up", "z")
        assert (said["objects"], said["triangles"], rows[0]["name"]) == (1, 7, name[0]), said
        near(rows[0], (0, 0, -3 * 0.0254), (7 * 0.0254, 5 * 0.0254, 0))
    said, rows = load(t, write(t, "t.stl", f"solid one and a half\n{FACET}{FACET}endsolid one\nsolid two\n{FACET}endsolid two\n"))
    assert said["triangles"] == 3 and [r["name"] for r in rows] == ["one and a half", "two"], rows
    near(rows[1], (0, 0, 0), (1, 3, 5))
    for content, says in ((stl(9, 7), "it says that it holds 9 triangles, which take 534 bytes, and it has 434"), (stl(3, 7), "it has 434"), (stl(7, 7) + b"x", "it has 435"),
                          (stl(0, 0), "no triangles"), (b"", "neither a text"), (stl(7, 7).replace(struct.pack("<f", 5), struct.pack("<f", float("nan"))), "not finite"),
                          (f"solid a\n{FACET.replace('endloop', 'vertex 1 1 1' + chr(10) + 'endloop')}endsolid\n", "a facet has 4 vertices"),
                          (f"solid a\n{FACET}facet normal 0 0 1\nouter loop\nvertex 0 0 0\n", "bad.stl: "),
                          (f"solid a\n{FACET.replace('1 0 0', '1 zero 0')}endsolid\n", "line 5: a vertex is three numbers")):
        refused(t, write(t, "bad.stl", content), says=says)


PLY = """ply
format %s 1.0
element vertex 5
property %s x
property %s y
property %s z
element face %d
property list uchar int %s
end_header
"""
CORNERS = ((0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0), (9, 9, 9))


def ply(kind="ascii", count=2, faces=((0, 1, 2), (0, 1, 2, 3)), real="float", name="vertex_indices", extra=""):
    head = PLY % (kind, real, real, real, count, name)
    head = head.replace("end_header\n", extra + "end_header\n")
    if kind == "ascii":
        return head + "".join("%g %g %g\n" % v for v in CORNERS) + "".join(f"{len(f)} {' '.join(map(str, f))}\n" for f in faces)
    order = "<" if "little" in kind else ">"
    body = b"".join(struct.pack(order + ("3d" if real == "double" else "3f"), *v) for v in CORNERS)
    return head.encode() + body + b"".join(struct.pack(f"{order}B{len(f)}i", len(f), *f) for f in faces)


def test_ply(t):
    t.daemon()
    for number, content in enumerate((ply(), ply("binary_little_endian"), ply("binary_big_endian", real="double"), ply(name="vertex_index"))):
        said, rows = load(t, write(t, f"p{number}.ply", content), "--up", "z")
        assert (said["objects"], said["triangles"], rows[0]["name"]) == (1, 3, f"p{number}"), said
        near(rows[0], (0, 0, -2), (1, 0, 0))  # the fifth vertex is not drawn
    said, rows = load(t, write(t, "cloud.ply", ply().split("element face")[0] + "end_header\n" + "".join("%g %g %g\n" % v for v in CORNERS)))
    assert said["triangles"] == 0
    near(rows[0], (0, 0, 0), (9, 9, 9))
    cut = ply("binary_little_endian")[:-3]
    for content, says in ((ply(count=5), 'it ends before its 5 "face" are told'), (cut, 'it ends before its 2 "face" are told'),
                          (ply(faces=((0, 1, 2), (0, 1, 5))), "a face names vertex 5; there are 5"), (ply(faces=((0, 1, 2), (0, 1, -1))), "names vertex -1"),
                          (ply(name="corners"), "no list named vertex_indices"), (ply(extra="element edge 1\nproperty int vertex1\nproperty int vertex2\n") + "0 1\n", "its 1 edges"),
                          (ply().replace("element face 2", "element tristrips 2"), "tristrips"), ("ply\nformat ascii 1.0\n", "no end"), ("PLY", "does not begin")):
        refused(t, write(t, "bad.ply", content), says=says)
    # What the library makes of lists before the vertices, and of a vertex that begins with line ends.
    lists = (b"ply\nformat binary_little_endian 1.0\nelement camera 1\nproperty list uchar float k\nelement vertex 5\nproperty float x\nproperty float y\n"
             b"property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n" + struct.pack("<B2f", 2, 1, 2) +
             b"".join(struct.pack("<3f", *v) for v in CORNERS) + struct.pack("<B3i", 3, 0, 1, 2))
    refused(t, write(t, "lists.ply", lists), says="it declares 3 corners of faces, and ")


# --- 3MF, DAE, FBX, IFC --------------------------------------------------------------------------------------------------

SOLID = ('<mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex x="0" y="2" z="0"/><vertex x="0" y="0" z="3"/></vertices><triangles>'
         '<triangle v1="0" v2="2" v3="1"/><triangle v1="0" v2="1" v3="3"/><triangle v1="0" v2="3" v3="2"/><triangle v1="1" v2="2" v3="3"/></triangles></mesh>')
OPC = "http://schemas.openxmlformats.org/package/2006"


def three_mf(t, name, resources, items, unit="inch", more="", parts=()):
    model = ('<?xml version="1.0" encoding="UTF-8"?><model unit="%s" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02" '
             'xmlns:p="http://schemas.microsoft.com/3dmanufacturing/production/2015/06" %s><resources>%s</resources><build>%s</build></model>')
    with zipfile.ZipFile(f"{t.tmp}/{name}", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("[Content_Types].xml", f'<?xml version="1.0"?><Types xmlns="{OPC}/content-types"><Default Extension="rels" ContentType="application/'
                   'vnd.openxmlformats-package.relationships+xml"/><Default Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/></Types>')
        z.writestr("_rels/.rels", f'<?xml version="1.0"?><Relationships xmlns="{OPC}/relationships"><Relationship Target="/3D/3dmodel.model" Id="r" '
                   'Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/></Relationships>')
        z.writestr("3D/3dmodel.model", model % (unit, more, resources, items))
        for part in parts:
            z.writestr(part, model % (unit, more, resources, ""))
    return f"{t.tmp}/{name}"


def test_3mf(t):
    t.daemon()
    solid = f'<object id="1" name="Tetra" type="model">{SOLID}</object>'
    group = '<object id="2" name="A &amp; &lt;B>"><components><component objectid="1" transform="0 1 0 -1 0 0 0 0 1 10 0 0"/><component objectid="1"/></components></object>'
    said, rows = load(t, three_mf(t, "a.3mf", solid + group, '<item objectid="2" transform="1 0 0 0 1 0 0 0 1 0 0 100"/><item objectid="1"/>'))
    assert (said["objects"], said["meshes"], said["triangles"]) == (3, 1, 12), said
    assert [r["path"] for r in rows] == ["A & <B>/Tetra", "A & <B>/Tetra", "Tetra"], rows
    inch = 0.0254
    near(rows[0], (8 * inch, 100 * inch, -1 * inch), (10 * inch, 103 * inch, 0))
    near(rows[1], (0, 100 * inch, -2 * inch), (inch, 103 * inch, 0))
    near(rows[2], (0, 0, -2 * inch), (inch, 3 * inch, 0))
    _, rows = load(t, three_mf(t, "m.3mf", solid, '<item objectid="1"/>', "meter"))
    near(rows[0], (0, 0, -2), (1, 3, 0))
    colour = '<basematerials id="9"><base name="x" displaycolor="#11223344"/></basematerials>'
    _, rows = load(t, three_mf(t, "c.3mf", colour + solid, '<item objectid="1"/>'))
    assert rows[0]["flags"] == ["see_through"], rows
    for path, says in ((three_mf(t, "b1.3mf", solid, '<item objectid="1"/>', "cubit"), 'its unit "cubit"'),
                       (three_mf(t, "b2.3mf", solid, '<item objectid="1"/>', parts=["3D/other.model"]), "its 2 models refer to each other"),
                       (three_mf(t, "b3.3mf", solid + '<object id="3"><components><component objectid="1" p:path="/3D/o.model"/></components></object>',
                                 '<item objectid="3"/>'), 'it shows objects of "/3D/o.model"'),
                       (three_mf(t, "b4.3mf", solid, '<item objectid="1"/>', more='requiredextensions="p b"'), 'the extension "b"'),
                       (three_mf(t, "b5.3mf", solid, '<item objectid="7"/>'), "object 7 is not there"),
                       (three_mf(t, "b6.3mf", solid.replace('v3="1"', 'v3="11"'), '<item objectid="1"/>'), "names vertex 11 of 4"),
                       (write(t, "b7.3mf", "PK"), "no zip archive")):
        refused(t, path, says=says)
    damaged = bytearray(open(f"{t.tmp}/m.3mf", "rb").read())
    damaged[damaged.index(b"3dmodel.model") + 100] ^= 1
    refused(t, write(t, "damaged.3mf", bytes(damaged)), says="its model cannot be unpacked")


TRIANGLES = '<triangles count="2"><input semantic="VERTEX" source="#%s-v" offset="0"/><p>0 1 2 0 2 3</p></triangles>'


def geometry(name, drawn=TRIANGLES):
    return (f'<geometry id="{name}"><mesh><source id="{name}-p"><float_array id="{name}-a" count="12">0 0 0 1 0 0 1 2 0 0 2 0</float_array><technique_common>'
            f'<accessor source="#{name}-a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor>'
            f'</technique_common></source><vertices id="{name}-v"><input semantic="POSITION" source="#{name}-p"/></vertices>{drawn.replace("%s", name)}</mesh></geometry>')


def dae(nodes, geometries, asset='<unit meter="0.5" name="x"/><up_axis>Z_UP</up_axis>', library=""):
    return ('<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
            f'<asset>{asset}</asset><library_geometries>{geometries}</library_geometries><library_nodes>{library}</library_nodes>'
            f'<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>')


def node(name, inside="", shown="g"):
    return f'<node id="id-{name}" name="{name}">{inside}<instance_geometry url="#{shown}"/></node>'


def test_dae(t):
    t.daemon()
    library = node("Part", "<translate>0 0 9</translate>").replace("id-Part", "part")
    used = '<node id="x" name="X"><translate>1 2 3</translate><instance_node url="#part"/></node><node id="y" name="Y"><instance_node url="#part"/></node>'
    said, rows = load(t, write(t, "a.dae", dae(used, geometry("g"), library=library)))
    assert (said["objects"], said["meshes"], said["triangles"]) == (2, 1, 4), said
    assert [r["path"] for r in rows] == ["X/Part", "Y/Part"], rows
    near(rows[0], (0.5, 6, -2), (1, 6, -1))
    near(rows[1], (0, 4.5, -1), (0.5, 4.5, 0))
    _, rows = load(t, write(t, "nameless.dae", dae(node("A").replace(' name="A"', ""), geometry("g"))))
    assert rows[0]["name"].startswith("node "), rows
    _, rows = load(t, write(t, "x.dae", dae(node("A", "<translate>1 2 3</translate><rotate>0 0 1 90</rotate>"), geometry("g"), "<up_axis>X_UP</up_axis>")))
    near(rows[0], (-3, -1, 3), (-2, 1, 3))
    drawn = {"polylist": '<polylist count="2"><input semantic="VERTEX" source="#%s-v" offset="0"/><vcount>4 3</vcount><p>0 1 2 3 0 1 2</p></polylist>',
             "trifans": '<trifans count="1"><input semantic="VERTEX" source="#%s-v" offset="0"/><p>0 1 2 3</p></trifans>',
             "tristrips": '<tristrips count="1"><input semantic="VERTEX" source="#%s-v" offset="0"/><p>0 1 3 2</p></tristrips>',
             "lines": '<lines count="2"><input semantic="VERTEX" source="#%s-v" offset="0"/><p>0 1 1 2</p></lines>'}
    for (name, primitive), triangles in zip(drawn.items(), (3, 2, 2, 0)):
        said, rows = load(t, write(t, f"{name}.dae", dae(node("A"), geometry("g", primitive))))
        assert said["triangles"] == triangles and len(rows) == 1, f"{name}: {said}"
        near(rows[0], (0, 0, -1), (0.5, 0, 0))
    for content, says in ((dae(node("A", "<skew>45 1 0 0 0 1 0</skew>"), geometry("g")), "a <skew> is not read"), (dae(node("A", shown="h"), geometry("g")), 'geometry "#h"'),
                          (dae(node("A").replace("#g", "other.dae#g"), geometry("g")), '"other.dae#g" is in another file'),
                          (dae(node("A") + node("B", shown="h"), geometry("g") + '<geometry id="h"><convex_mesh convex_hull_of="#g"/></geometry>'), 'geometry "#h" is no mesh'),
                          (dae(node("A"), geometry("g", TRIANGLES.replace('count="2"', 'count="5"'))), "index count"),
                          (dae(node("A"), geometry("g", TRIANGLES.replace("2 3", "2 9"))), "Invalid data index"), (dae("", ""), "bad.dae: "),
                          (dae(node("A"), geometry("g", TRIANGLES.replace('count="2"', 'count="0"')) + geometry("h")), "the count around it is 0 or missing"),
                          (dae(node("A"), geometry("g")).replace("<library_nodes>", '<library_nodes><asset><unit meter="2"/></asset>'), "parts in different units"),
                          (dae(node("A"), geometry("g")).replace("<library_nodes>", "<library_nodes><asset><up_axis>Y_UP</up_axis></asset>"), "different up axes"),
                          ("<COLLADA", "bad.dae: ")):
        refused(t, write(t, "bad.dae", content), says=says)
    done = t.visctl("load", f"{t.tmp}/a.dae", "--scene", "never", "--unit", "m", check=False)
    assert done.returncode == 1 and "a .dae file says its unit and its axes" in done.stderr, done.stderr


def test_see_through(t):
    """DAE and FBX have many ways to say that light comes through."""
    t.daemon()
    shown = node("A").replace("/>", '><bind_material><technique_common><instance_material symbol="m" target="#m"/></technique_common></bind_material></instance_geometry>', 1)
    effect = ('<library_effects><effect id="e"><profile_COMMON><technique sid="c"><phong><diffuse><color>1 0 0 1</color></diffuse>%s</phong></technique>'
              '</profile_COMMON></effect></library_effects><library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>')
    for said, clear in (("", False), ('<transparent opaque="A_ONE"><color>1 1 1 0.5</color></transparent>', True), ("<transparency><float>0.4</float></transparency>", True),
                        ('<transparent opaque="RGB_ZERO"><color>0.5 0.5 0.5 1</color></transparent><transparency><float>1</float></transparency>', True),
                        ('<transparent opaque="RGB_ZERO"><color>0 0 0 1</color></transparent><transparency><float>1</float></transparency>', False)):
        text = dae(shown, geometry("g", TRIANGLES.replace("count", 'material="m" count'))).replace("<library_nodes>", effect % said + "<library_nodes>")
        _, rows = load(t, write(t, "m.dae", text))
        assert rows[0]["flags"] == ["see_through"] * clear, f"{said}: {rows}"
    layer = ('LayerElementMaterial: 0 {\nVersion: 101\nName: ""\nMappingInformationType: "AllSame"\nReferenceInformationType: "IndexToDirect"\nMaterials: *1 {\na: 0\n}\n}\n'
             'Layer: 0 {\nVersion: 100\nLayerElement: {\nType: "LayerElementMaterial"\nTypedIndex: 0\n}\n}\n')
    for said, clear in (('P: "DiffuseColor", "Color", "", "A",1,0,0\n', False), ('P: "Opacity", "double", "", "A",0.5\n', True),
                        ('P: "TransparencyFactor", "Number", "", "A",0.5\n', True), ('P: "TransparentColor", "Color", "", "A",0.7,0.7,0.7\n', True),
                        ('P: "TransparentColor", "Color", "", "A",0,0,0\nP: "TransparencyFactor", "Number", "", "A",1\n', False)):
        text = fbx({1: ("A", [])}, {9: "Mesh"}, [(1, 0), (9, 1), (7, 1)]).replace("a: 0,1,2,-4\n}\n", "a: 0,1,2,-4\n}\n" + layer)
        material = f'Material: 7, "Material::m", "" {{\nVersion: 102\nShadingModel: "phong"\nProperties70: {{\n{said}}}\n}}\n'
        _, rows = load(t, write(t, "m.fbx", text.replace("Objects: {\n", "Objects: {\n" + material)))
        assert rows[0]["flags"] == ["see_through"] * clear, f"{said}: {rows}"


def fbx(models, geometries, links, settings=""):
    def properties(rows):
        return "Properties70: {\n" + "".join(f'P: "{name}", "{kind}", "", "A",{value}\n' for name, kind, value in rows) + "}\n"

    text = "; FBX 7.4.0 project file\nFBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}\nGlobalSettings: {\nVersion: 1000\n"
    text += properties(settings) + "}\nDefinitions: {\nVersion: 100\n}\nObjects: {\n"
    for number, (name, rows) in models.items():
        text += f'Model: {number}, "Model::{name}", "Mesh" {{\nVersion: 232\n{properties(rows)}}}\n'
    for number, kind in geometries.items():
        text += (f'Geometry: {number}, "Geometry::g", "{kind}" {{\nVertices: *12 {{\na: 0,0,0,1,0,0,1,2,0,0,2,0\n}}\n'
                 'PolygonVertexIndex: *4 {\na: 0,1,2,-4\n}\n}\n')
    return text + "}\nConnections: {\n" + "".join(f'C: "OO",{a},{b}\n' for a, b in links) + "}\n"


Z_UP_METRES = [("UpAxis", "int", 2), ("UpAxisSign", "int", 1), ("FrontAxis", "int", 1), ("FrontAxisSign", "int", -1), ("CoordAxis", "int", 0),
               ("CoordAxisSign", "int", 1), ("UnitScaleFactor", "double", 100)]


def test_fbx(t):
    t.daemon()
    models = {1: ("A", [("Lcl Translation", "Lcl Translation", "10,20,30")]), 2: ("B", [("Lcl Rotation", "Lcl Rotation", "0,0,90")]),
              3: ("C", [("GeometricTranslation", "Vector3D", "0,0,5")]), 4: ("D", [("RotationPivot", "Vector3D", "1,0,0"), ("Lcl Rotation", "Lcl Rotation", "0,0,90")])}
    links = [(1, 0), (2, 0), (3, 2), (4, 0), (9, 1), (9, 2), (9, 3), (9, 4)]
    said, rows = load(t, write(t, "z.fbx", fbx(models, {9: "Mesh"}, links, Z_UP_METRES)))
    assert (said["objects"], said["meshes"], said["triangles"]) == (4, 1, 8), said
    assert [r["path"] for r in rows] == ["A", "B/B", "B/C", "D"], rows
    near(rows[0], (10, 30, -22), (11, 30, -20))
    near(rows[1], (-2, 0, -1), (0, 0, 0))
    near(rows[2], (-2, 5, -1), (0, 5, 0))
    near(rows[3], (-1, 0, 0), (1, 0, 1))
    _, rows = load(t, write(t, "cm.fbx", fbx({1: models[1]}, {9: "Mesh"}, [(1, 0), (9, 1)])))
    near(rows[0], (0.1, 0.2, 0.3), (0.11, 0.22, 0.3))
    scaled, kept = ("P", [("Lcl Scaling", "Lcl Scaling", "1,2,1")]), ("K", [("InheritType", "enum", 2)])
    for content, says in ((fbx({2: models[3], 3: models[2]}, {9: "Mesh"}, [(2, 0), (3, 2), (9, 2), (9, 3)]), "geometric transform"),
                          (fbx({1: scaled, 2: kept}, {9: "Mesh"}, [(1, 0), (2, 1), (9, 1), (9, 2)]), "InheritType 2"),
                          (fbx({1: models[1], 2: models[2]}, {9: "Mesh", 8: "NurbsSurface"}, [(1, 0), (2, 0), (9, 1), (8, 2)]), '"B" is shown as a curve, a patch or a NURBS'),
                          (fbx({1: models[1]}, {9: "Mesh"}, [(1, 0), (9, 1)], [("UpAxis", "int", 7)]), "UpAxis makes no sense"), (b"Kaydara FBX Binary  \0", "bad.fbx: ")):
        refused(t, write(t, "bad.fbx", content), says=says)


IFC = """ISO-10303-21;
HEADER;
FILE_DESCRIPTION(('x'),'2;1');
FILE_NAME('x','2020-01-01T00:00:00',('a'),('a'),'a','a','a');
FILE_SCHEMA(('IFC2X3'));
ENDSEC;
DATA;
#1=IFCPERSON($,'a',$,$,$,$,$,$);
#2=IFCORGANIZATION($,'a',$,$,$);
#3=IFCPERSONANDORGANIZATION(#1,#2,$);
#4=IFCAPPLICATION(#2,'1','a','a');
#5=IFCOWNERHISTORY(#3,#4,$,.ADDED.,$,$,$,0);
#10=IFCCARTESIANPOINT((0.,0.,0.));
#11=IFCAXIS2PLACEMENT3D(#10,$,$);
#12=IFCGEOMETRICREPRESENTATIONCONTEXT($,'Model',3,1.E-5,#11,$);
#13=IFCSIUNIT(*,.LENGTHUNIT.,.MILLI.,.METRE.);
#14=IFCUNITASSIGNMENT((#13));
#15=IFCPROJECT('0000000000000000000001',#5,'P',$,$,$,$,(#12),#14);
#16=IFCLOCALPLACEMENT($,#11);
#17=IFCSITE('0000000000000000000002',#5,'Site',$,$,#16,$,$,.ELEMENT.,$,$,$,$,$);
#18=IFCRELAGGREGATES('0000000000000000000003',#5,$,$,#15,(#17));
#20=IFCCARTESIANPOINT((0.,0.));
#21=IFCDIRECTION((1.,0.));
#22=IFCAXIS2PLACEMENT2D(#20,#21);
#23=IFCRECTANGLEPROFILEDEF(.AREA.,$,#22,2000.,1000.);
#24=IFCDIRECTION((0.,0.,1.));
#25=IFCEXTRUDEDAREASOLID(#23,#11,#24,3000.);
#26=IFCSHAPEREPRESENTATION(#12,'Body','SweptSolid',(#25));
#27=IFCPRODUCTDEFINITIONSHAPE($,$,(#26));
#28=IFCCARTESIANPOINT((10000.,0.,0.));
#29=IFCAXIS2PLACEMENT3D(#28,$,$);
#30=IFCLOCALPLACEMENT(#16,#29);
#31=IFCCOLUMN('0000000000000000000004',#5,'One',$,$,#30,#27,$);
#40=IFCCOLUMN('0000000000000000000005',#5,'It''s two',$,$,#16,#27,$);
%s#50=IFCRELCONTAINEDINSPATIALSTRUCTURE('0000000000000000000006',#5,$,$,(#31,#40%s),#17);
ENDSEC;
END-ISO-10303-21;
"""
# A column more: with a round profile; with an opening; of a kind of solid that the library drops.
ROUND = ("#60=IFCCIRCLEPROFILEDEF(.AREA.,$,#22,500.);\n#61=IFCEXTRUDEDAREASOLID(#60,#11,#24,3000.);\n#62=IFCSHAPEREPRESENTATION(#12,'Body','SweptSolid',(#61));\n"
         "#63=IFCPRODUCTDEFINITIONSHAPE($,$,(#62));\n#64=IFCCOLUMN('0000000000000000000007',#5,'Round',$,$,#16,#63,$);\n")
OPENING = ("#64=IFCCOLUMN('0000000000000000000007',#5,'Cut',$,$,#16,#27,$);\n#65=IFCOPENINGELEMENT('0000000000000000000008',#5,'O',$,$,#16,#27,$);\n"
           "#66=IFCRELVOIDSELEMENT('0000000000000000000009',#5,$,$,#31,#65);\n")
SPHERE = ("#60=IFCSPHERE(#11,500.);\n#61=IFCCSGSOLID(#60);\n#62=IFCSHAPEREPRESENTATION(#12,'Body','CSG',(#61));\n"
          "#63=IFCPRODUCTDEFINITIONSHAPE($,$,(#62));\n#64=IFCCOLUMN('0000000000000000000007',#5,'Ball',$,$,#16,#63,$);\n")


def test_ifc(t):
    t.daemon()
    said, rows = load(t, write(t, "a.ifc", IFC % ("", "")))
    assert (said["objects"], said["meshes"], said["triangles"], said["notes"]) == (2, 1, 24, ""), said
    assert "One" in rows[0]["name"] and rows[0]["flags"] == [], rows
    near(rows[0], (9, 0, -0.5), (11, 3, 0.5))
    near(rows[1], (-1, 0, -0.5), (1, 3, 0.5))
    _, rows = load(t, write(t, "m.ifc", (IFC % ("", "")).replace(".MILLI.", "$")))
    near(rows[1], (-1000, 0, -500), (1000, 3000, 500))
    foot = ("#13=IFCCONVERSIONBASEDUNIT(#70,.LENGTHUNIT.,'FOOT',#71);\n#70=IFCDIMENSIONALEXPONENTS(1,0,0,0,0,0,0);\n"
            "#71=IFCMEASUREWITHUNIT(IFCLENGTHMEASURE(304.8),#72);\n#72=IFCSIUNIT(*,.LENGTHUNIT.,.MILLI.,.METRE.);")
    for unit, metres in ((foot, 0.3048), ("#13=IFCSIUNIT(*,.LENGTHUNIT.,.CENTI.,.METRE.);", 1e-2), ("#13=IFCSIUNIT(*,.LENGTHUNIT.,.DECI.,.METRE.);", 1e-1),
                         ("#13=IFCSIUNIT(*,.LENGTHUNIT.,.MICRO.,.METRE.);", 1e-6), ("#13=IFCSIUNIT(*,.LENGTHUNIT.,.KILO.,.METRE.);", 1e3)):
        _, rows = load(t, write(t, "unit.ifc", (IFC % ("", "")).replace("#13=IFCSIUNIT(*,.LENGTHUNIT.,.MILLI.,.METRE.);", unit)))
        near(rows[0], *([metres * x for x in corner] for corner in ((9000, 0, -500), (11000, 3000, 500))))
    refused(t, write(t, "none.ifc", (IFC % ("", "")).replace("((#13))", "(())")), says="no unit of length")
    said, rows = load(t, write(t, "round.ifc", IFC % (ROUND, ",#64")))
    assert [r["flags"] for r in rows] == [[], [], ["unbounded"]] and "1 of 3 products" in said["notes"], (said, rows)
    said, rows = load(t, write(t, "cut.ifc", IFC % (OPENING, ",#64")))
    flags = {r["name"].split("_")[1]: r["flags"] for r in rows}
    assert flags["One"] == ["unbounded"] and flags["Cut"] == [], rows
    ball = write(t, "ball.ifc", IFC % (SPHERE, ",#64"))
    refused(t, ball, says="1 of its 3 products have a shape that is not read, #64 (0000000000000000000007) first")
    said, rows = load(t, ball, "--partial")
    assert len(rows) == 2 and "not all of it was loaded" in said["notes"], said
    for content, says in (((IFC % ("", "")).replace("IFC2X3", "IFC4"), "its schema is IFC4, and only IFC2X3 is read"), ((IFC % ("", ""))[:-40], "it breaks off in entity #50"),
                          ("ISO-10303-21;", "no FILE_SCHEMA")):
        refused(t, write(t, "bad.ifc", content), says=says)


# --- a reader in trouble -------------------------------------------------------------------------------------------------

CRASH = (IFC % ("", "")).replace("'One'", "'On;\n#21=IFCDIRECTION((1.,0.));\n#ne'")  # an entity twice, the first of them inside a text that the library cuts
# Faces of so many corners that to cut each takes a second or so.
SLOW = ("".join(f"v {math.cos(i / 3183):.7f} {math.sin(i / 3183):.7f} 0\n" for i in range(20000)) +
        f"f {' '.join(str(i + 1) for i in range(20000))}\n" * 150)


def test_trouble(t):
    """Whatever becomes of the reader: one line, exit 1, and the daemon's scenes are as they were, those that had something in them, too."""
    t.daemon()
    t.visctl("load", write(t, "kept.stl", stl(7, 7)), "--scene", "kept")
    before = objects(t, "kept"), t.visctl("scene", "ls", "--json").stdout
    sanitized = t.build.endswith(("asan", "tsan"))
    crash, slow, large = write(t, "crash.ifc", CRASH), write(t, "slow.obj", SLOW), write(t, "large.stl", stl(400000, 400000))
    cases = [(crash, (), "exit status" if sanitized else "the importer crashed on it (signal 11"),
             (slow, ("--import-seconds", 1), "not done after 1 s of work; --import-seconds allows more")]
    if not sanitized:  # a sanitizer cannot live with a limit of addresses
        cases.append((large, ("--import-memory", 64), "out of memory; --import-memory allows more"))
    for path, flags, says in cases:
        for scene, more in (("never", ()), ("kept", ("--id-base", 100))):
            done = t.visctl("load", path, "--scene", scene, *flags, *more, check=False)
            assert done.returncode == 1 and says in done.stderr and len(done.stderr.splitlines()) == 1, f"{path}: {done.returncode} {done.stderr!r}"
            assert os.path.basename(path) in done.stderr and "nothing was loaded" in done.stderr, done.stderr
        assert (objects(t, "kept"), t.visctl("scene", "ls", "--json").stdout) == before, path
    said, _ = load(t, large)
    assert said["triangles"] == 400000, said


def start_slow(t):
    """visctl at work on a file that takes long, and the process that reads it for it."""
    path = write(t, "slow.obj", SLOW)
    visctl = subprocess.Popen([f"{t.build}/bin/visctl", "--connect", t.daemons[-1].url, "load", path, "--scene", "never"], stderr=subprocess.PIPE, text=True)
    child = ""
    while not child or open(f"/proc/{child}/comm").read().strip() != "visctl-import":  # it is ours until it becomes the other
        assert visctl.poll() is None, visctl.stderr.read()
        child = open(f"/proc/{visctl.pid}/task/{visctl.pid}/children").read().strip()
    return visctl, int(child)


def test_signals(t):
    """A reader that is killed is told of; one whose visctl is killed goes with it."""
    t.daemon()
    for number, says in ((signal.SIGSEGV, "the importer crashed on it (signal 11"), (signal.SIGABRT, "the importer crashed on it (signal 6"),
                         (signal.SIGKILL, "the importer was killed, perhaps for want of memory")):
        visctl, child = start_slow(t)
        os.kill(child, number)
        said = visctl.communicate()[1]
        assert visctl.returncode == 1 and says in said and "nothing was loaded" in said and len(said.splitlines()) == 1, said
    visctl, child = start_slow(t)
    gone = os.pidfd_open(child)
    visctl.kill()
    visctl.communicate()
    assert select.select([gone], [], [], 20)[0], "the reader outlives its visctl"
    os.close(gone)
    assert "never" not in t.visctl("scene", "ls").stdout


def test_margins(t):
    """What is drawn wider than its box says so: seen on the stream itself, since no command shows it."""
    path, out = write(t, "a.obj", QUADS + "o face\nf 1 2 3\no line\nl 1 2\n"), f"{t.tmp}/stream"
    subprocess.run(["bash", "-c", 'exec "$@" 3>' + out, "bash", f"{t.build}/bin/visctl-import", "obj", "0", "-", "whole", path], check=True)
    stream = open(out, "rb").read()
    margins, at = {}, 8
    while at < len(stream):
        tag, _, size = struct.unpack_from("<IIQ", stream, at)
        if tag == 3:
            margins[stream[at + 16 + 160:at + 16 + size]] = struct.unpack_from("<f", stream, at + 16 + 12)[0]
        at += 16 + size
    assert margins == {b"face": 0, b"line": 1}, margins


def test_places(t):
    """The reader lies beside visctl, wherever that is; and what cannot be opened is told as by any reader."""
    t.daemon()
    path = write(t, "a.stl", stl(7, 7))
    for folder, programs in (("whole", ("visctl", "visctl-import")), ("alone", ("visctl",))):
        os.mkdir(f"{t.tmp}/{folder}")
        for program in programs:
            shutil.copy(f"{t.build}/bin/{program}", f"{t.tmp}/{folder}/{program}")
    command = [f"{t.tmp}/whole/visctl", "--connect", t.daemons[-1].url, "load", path, "--scene", "whole"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    command[0] = f"{t.tmp}/alone/visctl"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "visctl-import" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    refused(t, f"{t.tmp}/none.obj", says="No such file")
    os.mkfifo(f"{t.tmp}/pipe.obj")
    refused(t, f"{t.tmp}/pipe.obj", says="not a plain file")
    for flags in (("--unit", "furlong"), ("--up", "w"), ("--format", "doc"), ("--gltf-scene", "0")):
        done = t.visctl("load", path, "--scene", "never", *flags, check=False)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, f"{flags}: {done.returncode} {done.stderr!r}"
    glb = write(t, "a.glb", "x")
    done = t.visctl("load", glb, "--scene", "never", "--unit", "mm", check=False)
    assert done.returncode == 2 and "--unit is not for glTF" in done.stderr, done.stderr


def test_handed_models(t):
    """Real files, held against the same things as glTF."""
    if not os.path.isdir(SHARED):
        t.skip("no models beside the tree")
    t.daemon()
    _, city = load(t, f"{SHARED}/delft_city.obj")
    _, true = load(t, f"{SHARED}/delft_city.glb")
    key = [r["name"].split()[-1] for r in true]
    assert [r["name"] for r in city] == key, "objects are not those of the GLB"
    said, rows = load(t, f"{SHARED}/lizard_wheel_cardan.stl", "--unit", "mm")
    assert said["triangles"] == 14342
    near(rows[0], (-0.0125, -0.0125, 0.017), (0.0125, 0.0125015776, 0.0527521477))
    said, house = load(t, f"{SHARED}/duplex.ifc")
    _, true = load(t, f"{SHARED}/duplex.glb")
    guids = {r["path"].replace("\\", "").split("/")[2].split(" ")[-1] for r in true}
    assert len(house) == 215 == len(guids), (len(house), len(guids))
    assert all(any(guid in r["path"] for r in house) for guid in guids), "a product of the building is missing"
    assert "87 of 215 products" in said["notes"], said
    shift = (8.383, -0.127, 0.417)  # the GLB's origin is another
    for guid in guids:
        mine = [r for r in house if guid in r["path"] and r["bounds"]]
        his = [r["bounds"] for r in true if guid in r["path"]]
        for row in mine if len(his) == 1 and len(mine) == 1 and "IfcMember" not in mine[0]["name"] else []:
            near(row, [a + b for a, b in zip(his[0][0], shift)], [a + b for a, b in zip(his[0][1], shift)])
test_handed_models.modes = ("plain", "models")
for each in (test_obj, test_3mf, test_fbx, test_trouble):  # a text, an archive, a tree, and what goes wrong; the reader of their stream is a unit test, too
    each.modes = ("plain", "asan")
    each.seconds = 120
