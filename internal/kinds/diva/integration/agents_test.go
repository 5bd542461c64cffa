// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

// simulated simulates the SSH agents in the pods. Each agent serves the content of the Secret that its kubelet last
// delivered.
type simulated struct {
	mu    sync.Mutex
	files map[types.UID]map[string][]byte
	asked int
}

var agents = &simulated{files: map[types.UID]map[string][]byte{}}

func (s *simulated) log(_ context.Context, pod *corev1.Pod) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	files, ok := s.files[pod.UID]
	if !ok {
		return "", errors.New("the node does not answer")
	}
	return fmt.Sprintf(`{"msg":"Starting"}`+"\n"+`{"msg":"Serving","digest":%q}`+"\n", sshkeys.Digest(files)), nil
}

func (s *simulated) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// bring delivers the current Secret to a pod, as the kubelet would.
func (s *shop) bring(pod *corev1.Pod) {
	s.Helper()
	files := map[string][]byte{}
	for _, volume := range pod.Spec.Volumes {
		if volume.Name != "ssh-source" {
			continue
		}
		secret := &corev1.Secret{}
		if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: pod.Namespace, Name: volume.Secret.SecretName}, secret); err != nil {
			s.Fatal(err)
		}
		for _, item := range volume.Secret.Items {
			if content, ok := secret.Data[item.Key]; ok {
				files[item.Path] = content
			}
		}
	}
	files, err := sshkeys.OwnFiles(files, pod.Name)
	if err != nil {
		s.Fatal(err)
	}
	agents.mu.Lock()
	defer agents.mu.Unlock()
	agents.files[pod.UID] = files
}

// bringTo delivers the current Secret to all pods of a role, as their kubelets would.
func (s *shop) bringTo(role string) {
	s.Helper()
	for _, pod := range s.pods(role) {
		s.bring(&pod)
	}
}

// serves returns the content of an SSH file that the simulated agent of a pod serves.
func (s *shop) serves(pod corev1.Pod, file string) string {
	agents.mu.Lock()
	defer agents.mu.Unlock()
	return string(agents.files[pod.UID][file])
}
