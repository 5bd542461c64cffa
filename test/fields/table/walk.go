// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/internal/kinds"
)

// Field is a field in the spec of a kind.
type Field struct {
	// Path is the path of the field in the object, such as spec.ports[].name.
	Path string
	// Type is the type of the field as the documentation shows it, such as "list of string" or "Affinity of
	// Kubernetes".
	Type string
	// Doc is the description of the field in the CRD.
	Doc string
	// Holds is true if the field only groups other fields. Such a field needs no row.
	Holds bool
	// Schema is the field's schema in the CRD. Mutations uses it to generate values.
	Schema *apiextensionsv1.JSONSchemaProps
}

// Fields returns all fields in the spec of the kind, sorted by path.
func (f *File) Fields(root string) ([]Field, error) {
	files, err := filepath.Glob(filepath.Join(root, "config/*/bases", f.CRD))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("expected one file config/*/bases/%s, got %d (%w)", f.CRD, len(files), err)
	}
	crd, err := readCRD(files[0])
	if err != nil {
		return nil, err
	}
	goType, err := goType(crd)
	if err != nil {
		return nil, err
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	return walk("spec", &spec, member(goType, "spec")), nil
}

// goType returns the Go type of the kind that a CRD defines.
func goType(crd *apiextensionsv1.CustomResourceDefinition) (reflect.Type, error) {
	scheme := runtime.NewScheme()
	if err := kinds.AddToScheme(scheme); err != nil {
		return nil, err
	}
	object, err := scheme.New(schema.GroupVersionKind{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name, Kind: crd.Spec.Names.Kind})
	if err != nil {
		return nil, fmt.Errorf("the kind of %s is not in internal/kinds/kinds.go: %w", crd.Name, err)
	}
	return reflect.TypeOf(object), nil
}

func readCRD(file string) (*apiextensionsv1.CustomResourceDefinition, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(raw, crd); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(crd.Spec.Versions) != 1 {
		return nil, fmt.Errorf("%s: expected one version, got %d", file, len(crd.Spec.Versions))
	}
	return crd, nil
}

// walk returns a field and all fields below it. It does not descend into Go types that come from Kubernetes.
func walk(path string, schema *apiextensionsv1.JSONSchemaProps, goType reflect.Type) []Field {
	field := Field{Path: path, Type: typeName(schema, goType), Doc: schema.Description, Schema: schema}
	if schema.Items != nil && schema.Items.Schema != nil {
		path, schema = path+"[]", schema.Items.Schema
	}
	if ofKubernetes(goType) || len(schema.Properties) == 0 || isOpen(schema) {
		return []Field{field}
	}
	field.Holds = true
	fields := []Field{field}
	for _, name := range sortedKeys(schema.Properties) {
		below := schema.Properties[name]
		fields = append(fields, walk(path+"."+name, &below, member(element(goType), name))...)
	}
	return fields
}

// isOpen reports whether the API server keeps unknown fields of an object. The schema of such an object lists fields
// only so that validation rules can refer to them.
func isOpen(schema *apiextensionsv1.JSONSchemaProps) bool {
	return schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
}

func sortedKeys(m map[string]apiextensionsv1.JSONSchemaProps) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// element removes all pointers, lists and maps from a type, and returns the type of the items. It returns nil if the
// type is unknown.
func element(t reflect.Type) reflect.Type {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		t = t.Elem()
	}
	return t
}

// member returns the type of the struct field with the given JSON name. It also finds fields of embedded structs.
func member(t reflect.Type, name string) reflect.Type {
	t = element(t)
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == name {
			return f.Type
		}
		if options == "inline" {
			if found := member(f.Type, name); found != nil {
				return found
			}
		}
	}
	return nil
}

func ofKubernetes(t reflect.Type) bool {
	t = element(t)
	return t != nil && t.Kind() == reflect.Struct && strings.HasPrefix(t.PkgPath(), "k8s.io/")
}

func typeName(schema *apiextensionsv1.JSONSchemaProps, t reflect.Type) string {
	switch {
	case schema.Type == "array" && schema.Items != nil && schema.Items.Schema != nil:
		return "list of " + typeName(schema.Items.Schema, element(t))
	case ofKubernetes(t):
		return element(t).Name() + " of Kubernetes"
	case schema.XIntOrString:
		return "number or string"
	case schema.AdditionalProperties != nil:
		return "map"
	case schema.Type == "":
		return "any"
	}
	return schema.Type
}
