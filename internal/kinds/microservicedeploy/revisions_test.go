// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/revisions"
	"github.com/opcrew/opcrew/internal/workload"
)

func rev(number int64, image, config string) customv1.Revision {
	return customv1.Revision{Revision: number, Image: image, Config: config}
}

func TestTheRevisionsAreThoseOfTheTemplatesTheNewestFirst(t *testing.T) {
	same(t, "of no Deployment", []customv1.Revision{}, revisions.List(workload.Rollout{}))
	f := observed(newInstance(), 1).sets(newTemplate(3, "c", "z"), newTemplate(2, "b", "y"), newTemplate(11, "k", ""))
	f.rollout.Deployment.Spec.Template = newTemplate(2, "changed", "y")
	stray := corev1.PodTemplateSpec{}
	stray.Annotations = map[string]string{revisions.RevisionAnnotation: "many"}
	f = f.sets(stray, corev1.PodTemplateSpec{})
	f.rollout.Sets = f.rollout.Sets[1:]
	same(t, "numbers, and of a number the Deployment's own", []customv1.Revision{rev(11, "k", ""), rev(3, "c", "z"), rev(2, "changed", "y")}, revisions.List(f.rollout))
}

func TestARevisionNamesTheSecretThatItMounts(t *testing.T) {
	template := newTemplate(1, "a", "this")
	template.Spec.Containers = append([]corev1.Container{{Name: "injected", Image: "other"}}, template.Spec.Containers...)
	template.Spec.Volumes = []corev1.Volume{
		{Name: "tenant", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "not-this"}}},
		{Name: "config", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "this"}}},
	}
	f := facts{}.sets(template)
	same(t, "image of the application and its configuration", []customv1.Revision{rev(1, "a", "this")}, revisions.List(f.rollout))
	// Regression: an image that another client had set on the Deployment became the image of the current revision.
	f = observed(newInstance(withImage("a")), 1)
	f.rollout.Deployment.Spec.Template.Spec.Containers[0].Image = "stolen"
	same(t, "of a template that a user has changed", []customv1.Revision{rev(1, "a", "")}, revisions.List(f.rollout))
	f.rollout.Deployment.Spec.Template = newTemplate(1, "a", "")
	f.rollout.Deployment.Spec.Template.Annotations[revisions.RevisionAnnotation] = "9"
	same(t, "of a template whose number a user has changed", []customv1.Revision{rev(1, "a", "")}, revisions.List(f.rollout))
	if got := revisions.MainImage(corev1.PodTemplateSpec{}); got != "" {
		t.Errorf("expected no image of a template without the application, got %q", got)
	}
}

func TestTheSpecsRevisionHasANumberOfItsOwnOrThatOfTheSameImageAndConfiguration(t *testing.T) {
	known := []customv1.Revision{rev(5, "e", "v"), rev(4, "b", "x"), rev(2, "a", "x")}
	for name, test := range map[string]struct {
		image, config string
		known         []customv1.Revision
		want          customv1.Revision
	}{
		"the first":                           {"a", "", nil, rev(1, "a", "")},
		"another image":                       {"z", "v", known, rev(6, "z", "v")},
		"another configuration":               {"e", "x", known, rev(6, "e", "x")},
		"the newest again":                    {"e", "v", known, rev(5, "e", "v")},
		"an old one again":                    {"a", "x", known, rev(2, "a", "x")},
		"a number that went is not had again": {"c", "y", known, rev(6, "c", "y")},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := revisions.Choose(newInstance(withImage(test.image)), test.known, test.config)
			same(t, "revision", test.want, got)
			if !ok {
				t.Error("expected the spec's own revision always to be there")
			}
		})
	}
}

func TestARollbackNeedsARevisionThatIsKept(t *testing.T) {
	known := []customv1.Revision{rev(5, "e", "v"), rev(2, "a", "x")}
	got, ok := revisions.Choose(newInstance(withImage("z"), backTo(2)), known, "y")
	if want := rev(2, "a", "x"); got != want || !ok {
		t.Errorf("expected image and configuration of revision 2, got %+v %v", got, ok)
	}
	if got, ok := revisions.Choose(newInstance(backTo(3)), known, "y"); ok {
		t.Errorf("expected revision 3 not to be kept, got %+v", got)
	}
}

// A Deployment keeps only ten old ReplicaSets. opcrew must not reuse the numbers of revisions whose ReplicaSets were
// deleted.
func TestNumbersGoOnAfterManyChangesAndRollbacks(t *testing.T) {
	var known []customv1.Revision
	given := map[int64]string{}
	run := func(image string) {
		r, _ := revisions.Choose(newInstance(withImage(image)), known, "")
		if old, there := given[r.Revision]; there && old != image {
			t.Fatalf("revision %d was %s and is now %s", r.Revision, old, image)
		}
		given[r.Revision] = image
		var rest []customv1.Revision
		for _, k := range known {
			if k.Revision != r.Revision {
				rest = append(rest, k)
			}
		}
		known = append([]customv1.Revision{r}, rest[:min(len(rest), revisions.MostKept)]...)
	}
	for i := range 200 {
		run(fmt.Sprint("image:", i*i%23))
	}
	if len(given) < 23 {
		t.Errorf("expected a number for each of many images, got %d", len(given))
	}
}

// Regression: while the pods stayed unchanged, the status reported the revision in the spec instead of the revision
// that ran.
func TestTheStatusReportsTheRevisionThatRuns(t *testing.T) {
	f := observed(newInstance(), 1)
	f.rollout.Deployment.Spec.Template = newTemplate(4, "nginx:1.26", "")
	for name, test := range map[string]struct {
		m     *customv1.MicroServiceDeploy
		facts facts
		want  int64
	}{
		"the spec's":           {newInstance(), f, 4},
		"being rolled out":     {newInstance(withImage("nginx:1.27")), f, 5},
		"held by a bad image":  {newInstance(withImage(placeholder)), f, 4},
		"held by no revision":  {newInstance(backTo(9)), f, 4},
		"none, with bad image": {newInstance(withImage(placeholder)), facts{}, 0},
		"none yet":             {newInstance(), facts{}, 1},
	} {
		if got := reported(test.m, test.facts, unchanged).Status.Revision; got != test.want {
			t.Errorf("%s: expected revision %d, got %d", name, test.want, got)
		}
	}
}
