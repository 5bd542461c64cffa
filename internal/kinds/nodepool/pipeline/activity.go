// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// Namespace is the namespace of the Activities, in which users have no rights.
const Namespace = "opcrew-activities"

// Labels of the Activities.
const (
	// PoolLabel has the name of the NodePool. The admission policy of Activities and package activity know it.
	PoolLabel = claims.PoolLabel
	// RunLabel identifies one execution of a pipeline on a node. StepLabel and AttemptLabel have the name of the step,
	// and how often it was started. PhaseLabel is join or leave.
	RunLabel     = "opcrew.io/pipeline-run"
	StepLabel    = "opcrew.io/pipeline-step"
	AttemptLabel = "opcrew.io/pipeline-attempt"
	PhaseLabel   = "opcrew.io/pipeline"
)

// name returns the name of the Activity of a step. It depends only on what the node records, so that two operators
// create only one Activity.
func (in Input) name(step string, attempt int) string {
	return fmt.Sprintf("%s-%s-%s-%s-%d", in.Pool.Name, in.phase(), in.run(), step, attempt)
}

func (in Input) phase() string {
	if in.leaving() {
		return "leave"
	}
	return "join"
}

// Requester returns the user whose rights the Activities of a NodePool need, as the API server recorded it; nil if the
// record is missing or invalid.
func Requester(pool *nodesv1.NodePool) *egov1.Requester {
	who := &egov1.Requester{}
	if err := json.Unmarshal([]byte(pool.Annotations[common.RequesterAnnotation]), who); err != nil || who.Username == "" {
		return nil
	}
	return who
}

// declare declares the Activity of a step that starts.
func declare(in Input, v Verdict) runtime.ApplyConfiguration {
	steps := Of(in.Pool, in.Mark.Phase).Steps
	at := slices.IndexFunc(steps, func(s nodesv1.Step) bool { return s.Name == v.Step })
	a := &egov1.Activity{Spec: specOf(&steps[at].Template)}
	a.APIVersion, a.Kind = egov1.GroupVersion.String(), "Activity"
	a.Namespace, a.Name = Namespace, v.Activity
	a.Labels = map[string]string{
		"app.kubernetes.io/name": "nodepool", "app.kubernetes.io/part-of": common.Name,
		PoolLabel: in.Pool.Name, RunLabel: in.run(), PhaseLabel: in.phase(), StepLabel: v.Step, AttemptLabel: strconv.Itoa(v.Attempt),
	}
	a.Spec.Host, a.Spec.Requester = in.Node.Name, Requester(in.Pool)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		panic(err) // cannot fail, because an Activity can always be encoded
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
}

// specOf returns the spec of the Activity of a step. The node may be tainted, cordoned or full, so the command does not
// go through the scheduler.
func specOf(t *nodesv1.ActivityTemplate) egov1.ActivitySpec {
	spec := egov1.ActivitySpec{
		Command: t.Command, ExecUser: t.ExecUser, ExecCwd: t.ExecCwd, Placement: egov1.PlacementRepair,
		StartDeadlineSeconds: t.StartDeadlineSeconds, TimeoutSeconds: t.TimeoutSeconds, GraceSeconds: t.GraceSeconds,
	}
	for _, arg := range t.Args {
		spec.Args = append(spec.Args, egov1.Arg(arg))
	}
	for _, env := range t.Envs {
		spec.Envs = append(spec.Envs, egov1.Env(env))
	}
	return spec
}

// IndexKeys returns the keys under which the cache finds an Activity of a pipeline: its node, and its NodePool. It
// returns none for other Activities.
func IndexKeys(a *egov1.Activity) []string {
	if a.Namespace != Namespace || a.Labels[PoolLabel] == "" {
		return nil
	}
	return []string{NodeKey(a.Spec.Host), PoolKey(a.Labels[common.OwnerLabel])}
}

// NodeKey and PoolKey return the keys of a node by its name, and of a NodePool by its UID.
func NodeKey(name string) string { return "node/" + name }

// PoolKey returns the key of a NodePool by its UID.
func PoolKey[S ~string](uid S) string { return "pool/" + string(uid) }

// ofPool returns the Activities of a NodePool.
func ofPool(activities []*egov1.Activity, pool *nodesv1.NodePool) []*egov1.Activity {
	return filter(activities, func(a *egov1.Activity) bool { return a.Labels[common.OwnerLabel] == string(pool.UID) })
}

func filter(activities []*egov1.Activity, keep func(*egov1.Activity) bool) []*egov1.Activity {
	return slices.DeleteFunc(slices.Clone(activities), func(a *egov1.Activity) bool { return !keep(a) })
}

// byAge compares Activities by their creation, and then by name.
func byAge(a, b *egov1.Activity) int {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order
	}
	return strings.Compare(a.Name, b.Name)
}
