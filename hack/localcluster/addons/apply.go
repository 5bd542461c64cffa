// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"text/template"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
)

// fieldManager is the name under which server-side apply records the fields of the add-ons' objects.
const fieldManager = "localcluster"

//go:embed manifests/*.yaml
var manifests embed.FS

// render fills in the placeholders of a manifest. It returns an error if values has no entry for a placeholder.
func render(name string, values map[string]string) ([]*unstructured.Unstructured, error) {
	text, err := template.New(name+".yaml").Option("missingkey=error").ParseFS(manifests, "manifests/"+name+".yaml")
	if err != nil {
		return nil, fmt.Errorf("read the manifest of %s: %w", name, err)
	}
	var filled bytes.Buffer
	if err := text.Execute(&filled, values); err != nil {
		return nil, fmt.Errorf("fill in the manifest of %s: %w", name, err)
	}
	return decode(&filled)
}

func decode(manifest io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(manifest, 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode a manifest: %w", err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// applier applies objects to the cluster by server-side apply.
type applier struct {
	client dynamic.Interface
	mapper meta.RESTMapper
}

func newApplier(kubeconfig string) (*applier, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", kubeconfig, err)
	}
	config.QPS, config.Burst = 100, 200
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(kinds)
	if err != nil {
		return nil, fmt.Errorf("list the kinds of the API server: %w", err)
	}
	return &applier{client: client, mapper: restmapper.NewDiscoveryRESTMapper(groups)}, nil
}

// apply applies the objects. It retries for a while, because the API server creates some namespaces only after it has
// started.
func (a *applier) apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	patience := wait.Backoff{Duration: 100 * time.Millisecond, Steps: 50}
	for _, object := range objects {
		err := retry.OnError(patience, apierrors.IsNotFound, func() error { return a.applyOne(ctx, object) })
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

func (a *applier) applyOne(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var resource dynamic.ResourceInterface = a.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		resource = a.client.Resource(mapping.Resource).Namespace(object.GetNamespace())
	}
	_, err = resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}
