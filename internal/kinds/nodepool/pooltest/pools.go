// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pooltest builds NodePools and nodes for the tests of package nodepool and its subpackages.
package pooltest

import (
	"os"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/api/common"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

var SomeTime = metav1.NewTime(time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))

const (
	// ledgerKey is the annotation of a node in which opcrew records what pools have set on the node.
	ledgerKey = "opcrew.io/nodepools"

	NoSchedule = corev1.TaintEffectNoSchedule
	NoExecute  = corev1.TaintEffectNoExecute
)

type PoolOption func(*nodesv1.NodePool)

// Pool returns a NodePool. Pools without the option Created have the same age.
func Pool(name string, options ...PoolOption) *nodesv1.NodePool {
	p := &nodesv1.NodePool{}
	p.Name, p.UID, p.Generation, p.CreationTimestamp = name, types.UID("uid-of-"+name), 1, SomeTime
	p.Spec.Handler = nodesv1.DefaultHandler
	for _, option := range options {
		option(p)
	}
	return p
}

func WantsLabel(key, value string) PoolOption {
	return func(p *nodesv1.NodePool) {
		if p.Spec.Labels == nil {
			p.Spec.Labels = map[string]nodesv1.LabelValue{}
		}
		p.Spec.Labels[key] = nodesv1.LabelValue(value)
	}
}

func WantsAnnotation(key, value string) PoolOption {
	return func(p *nodesv1.NodePool) {
		if p.Spec.Annotations == nil {
			p.Spec.Annotations = map[string]nodesv1.AnnotationValue{}
		}
		p.Spec.Annotations[key] = nodesv1.AnnotationValue(value)
	}
}

func WantsTaint(key, value string, effect corev1.TaintEffect) PoolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.Taints = append(p.Spec.Taints, nodesv1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func Selects(key, value string) PoolOption {
	return func(p *nodesv1.NodePool) {
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]nodesv1.LabelValue{}
		}
		p.Spec.NodeSelector[key] = nodesv1.LabelValue(value)
	}
}

// Created makes a NodePool the given number of minutes younger than pools without this option.
func Created(minutes int) PoolOption {
	return func(p *nodesv1.NodePool) {
		p.CreationTimestamp = metav1.NewTime(SomeTime.Add(time.Duration(minutes) * time.Minute))
	}
}

func PoolAnnotation(key, value string) PoolOption {
	return func(p *nodesv1.NodePool) { p.Annotations = map[string]string{key: value} }
}

func IsPaused() PoolOption { return PoolAnnotation(common.PausedAnnotation, "true") }
func InDryRun() PoolOption { return PoolAnnotation(common.DryRunAnnotation, "true") }

func BeingDeleted(p *nodesv1.NodePool) {
	p.DeletionTimestamp, p.Finalizers = &SomeTime, []string{"opcrew.io/nodepool"}
}

func AllowsNoExecute(p *nodesv1.NodePool) { p.Spec.AllowNoExecuteOnControlPlane = true }

// ArticlePools reads the NodePools of the tutorial article that this API comes from. They were created in the order of
// the file, within the same second.
func ArticlePools(t testing.TB, file string) []*nodesv1.NodePool {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pools []*nodesv1.NodePool
	for text := range strings.SplitSeq(string(raw), "\n---\n") {
		p := Pool("")
		if err := yaml.UnmarshalStrict([]byte(text), p); err != nil {
			t.Fatal(err)
		}
		p.UID = types.UID("uid-of-" + p.Name)
		pools = append(pools, p)
	}
	return pools
}

// Same fails the test if two values differ. what describes the values in the failure message.
func Same(t testing.TB, what string, want, got any, options ...gocmp.Option) {
	t.Helper()
	if diff := gocmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}

func Quantity(text string) resource.Quantity { return resource.MustParse(text) }

type LabelMap = map[string]string
