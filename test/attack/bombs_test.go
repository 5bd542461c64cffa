// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// budget is the maximum number of bytes of annotations that the operator may keep in memory for one pod. Kubernetes
// allows 256 KiB of annotations per pod.
const budget = 32 << 10

// bombAttacks returns attacks by small requests with a large effect: annotations that every pod repeats, and deeply
// nested values.
func bombAttacks() []attack {
	annotations := "{" + strings.Join(numbered("a%d: "+strings.Repeat("x", 4000), 60), ", ") + "}"
	ours := "{" + strings.Join(numbered("opcrew.io/a%d: "+strings.Repeat("x", 4000), 60), ", ") + "}"
	redisAnnotations := "podAnnotations: " + annotations
	cached := func(name, manifest string) attack {
		return attack{name: name, source: "OWASP K04", needs: cacheSize, manifest: manifest, pods: true, harm: fillsTheCache}
	}
	deep := func(name, spec string) attack {
		return attack{name: name, source: "OWASP K04, CVE-2019-11253", needs: nesting, refused: []string{"16384 characters"},
			act: func(w *world) error { return w.tries(spec) }}
	}
	return []attack{
		cached("annotations of pods of etcd", etcdWith("pod: {annotations: "+annotations+"}")),
		cached("annotations of pods of etcd that look like opcrew's", etcdWith("pod: {annotations: "+ours+"}")),
		cached("annotations of pods of Redis", redisPod(redisAnnotations)),
		cached("annotations of pods of Memcached", cacheWith("pod: {annotations: {"+strings.Join(numbered("a%d: "+strings.Repeat("x", 8000), 30), ", ")+"}}")),
		deep("lists in lists in a field that opcrew ignores", `{"license": `+strings.Repeat("[", levels-2)+strings.Repeat("]", levels-2)+`}`),
		deep("objects in objects in a field that opcrew ignores", `{"ldap": `+strings.Repeat(`{"a":`, levels-10)+"1"+strings.Repeat("}", levels-10)+`}`),
		deep("lists in lists beside certificates", `{"certificates": {"proxyCertificateSecretName": `+strings.Repeat("[", levels-3)+strings.Repeat("]", levels-3)+`}}`),
		deep("lists in lists in a side container", `{"sideContainersSpec": [{"name": "a", "image": "a", "args": `+strings.Repeat("[", levels-4)+strings.Repeat("]", levels-4)+`}]}`),
	}
}

// levels is the maximum nesting that the API server accepts in an object. A list adds two levels, so no client can
// decode a list that contains an object with this nesting. Attacks with nested objects use fewer levels, because the
// managed fields of an object are nested more deeply than the object itself.
const levels = 10000

// tries makes the tenant create a Redis cluster with the given spec as a dry run, and returns the API server's
// response. If a spec with too many levels were stored, the operator could not list the Redis clusters of any tenant.
func (w *world) tries(spec string) error {
	w.subject = w.parse(redisPod(""))
	w.subject.Object["spec"] = json.RawMessage(spec)
	raw, err := json.Marshal(w.subject.Object)
	if err == nil {
		err = json.Unmarshal(raw, &w.subject.Object)
	}
	if err != nil {
		w.Fatal(err)
	}
	return w.tenant.Create(w.Context(), w.subject, client.DryRunAll)
}

// fillsTheCache reports harm if the operator keeps too many bytes of annotations of one pod in its cache.
func fillsTheCache(w *world) string {
	w.Helper()
	pods := &corev1.PodList{}
	if err := w.admin.List(w.Context(), pods, client.InNamespace(w.ns)); err != nil {
		w.Fatal(err)
	}
	for i := range pods.Items {
		if _, err := w.cluster.trim(&pods.Items[i]); err != nil {
			w.Fatal(err)
		}
		if size := sizeOf(pods.Items[i].Annotations); size > budget {
			return fmt.Sprintf("the operator keeps %d bytes of annotations of pod %s", size, pods.Items[i].Name)
		}
	}
	return ""
}

func sizeOf(annotations map[string]string) int {
	size := 0
	for key, value := range annotations {
		size += len(key) + len(value)
	}
	return size
}
