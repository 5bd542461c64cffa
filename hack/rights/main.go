// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Command rights prints the RBAC rights of the operator, or limits an installation to some namespaces. It reads the
// rights from the markers in the code of the kinds.
//
//	go run ./hack/rights table                      prints docs/rights.md: each right and its reason
//	go run ./hack/rights namespaced a,b < all.yaml  prints the manifests for the namespaces a and b only
//
// make verify runs table, and make deploy NAMESPACES=a,b runs namespaced.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/hack/rights/marker"
	"github.com/opcrew/opcrew/hack/rights/namespaced"
	"github.com/opcrew/opcrew/hack/rights/table"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	layers, err := marker.Layers(".")
	if err != nil {
		return err
	}
	switch {
	case len(args) == 1 && args[0] == "table":
		return table.Write(out, layers)
	case len(args) == 2 && args[0] == "namespaced":
		return narrow(in, out, layers, strings.FieldsFunc(args[1], func(r rune) bool { return r == ',' || r == ' ' }))
	}
	return errors.New("usage: rights table | rights namespaced NAMESPACE[,NAMESPACE...]")
}

// narrow reads the manifests of an installation for all namespaces, and writes those of an installation for the given
// namespaces. If it cannot convert one of the objects, it writes nothing.
func narrow(in io.Reader, out io.Writer, layers []marker.Layer, namespaces []string) error {
	objects, err := decode(in)
	if err != nil {
		return err
	}
	objects, err = namespaced.Manifests(objects, layers, namespaces)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("encode %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		all.WriteString("---\n")
		all.Write(text)
	}
	_, err = all.WriteTo(out)
	return err
}

func decode(in io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := utilyaml.NewYAMLOrJSONDecoder(in, 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the manifests: %w", err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
