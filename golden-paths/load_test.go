package goldenpaths

import "testing"

func TestBuiltinGoldenPathsLoad(t *testing.T) {
	versions, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		t.Log(v.Version.Name, v.Version.Spec.Digest, len(v.Examples))
	}
	if len(versions) != 3 {
		t.Fatal(len(versions))
	}
}
