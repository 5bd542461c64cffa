// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	corev1 "k8s.io/api/core/v1"
)

func TestEveryWayToUseAnObjectIsFound(t *testing.T) {
	for text, want := range map[string]string{
		`containers: [{name: a, env: [{name: X, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]`:                                                             "get secrets s",
		`initContainers: [{name: a, env: [{name: X, valueFrom: {configMapKeyRef: {name: c, key: k}}}]}]`:                                                      "get configmaps c",
		`ephemeralContainers: [{name: a, env: [{name: X, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]`:                                                    "get secrets s",
		`containers: [{name: a, envFrom: [{secretRef: {name: s}}, {configMapRef: {name: c}}]}]`:                                                               "get secrets s, get configmaps c",
		`containers: [{name: a, env: [{name: X, value: y}, {name: Z, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]`:                                   "",
		`volumes: [{name: v, secret: {secretName: s, optional: true}}]`:                                                                                       "get secrets s",
		`volumes: [{name: v, configMap: {name: c}}]`:                                                                                                          "get configmaps c",
		`volumes: [{name: v, projected: {sources: [{secret: {name: s}}, {configMap: {name: c}}, {downwardAPI: {}}]}}]`:                                        "get secrets s, get configmaps c",
		`volumes: [{name: v, persistentVolumeClaim: {claimName: p}}]`:                                                                                         "get persistentvolumeclaims p",
		`volumes: [{name: v, projected: {sources: [{serviceAccountToken: {audience: vault, path: t}}]}}]`:                                                     "impersonate serviceaccounts default",
		`volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: s}}}]`:                                                                             "use csidrivers.storage.k8s.io d, get secrets s",
		`volumes: [{name: v, csi: {driver: d}}]`:                                                                                                              "use csidrivers.storage.k8s.io d",
		`volumes: [{name: v, projected: {sources: [{podCertificate: {signerName: a/b, keyType: ED25519}}]}}]`:                                                 "impersonate serviceaccounts default",
		`volumes: [{name: v, azureFile: {secretName: s, shareName: x}}]`:                                                                                      "get secrets s",
		`volumes: [{name: v, cephfs: {monitors: [m], secretRef: {name: s}}}]`:                                                                                 "get secrets s",
		`volumes: [{name: v, cinder: {volumeID: x, secretRef: {name: s}}}]`:                                                                                   "get secrets s",
		`volumes: [{name: v, flexVolume: {driver: d, secretRef: {name: s}}}]`:                                                                                 "get secrets s",
		`volumes: [{name: v, iscsi: {iqn: x, secretRef: {name: s}}}]`:                                                                                         "get secrets s",
		`volumes: [{name: v, rbd: {image: x, secretRef: {name: s}}}]`:                                                                                         "get secrets s",
		`volumes: [{name: v, scaleIO: {system: x, secretRef: {name: s}}}]`:                                                                                    "get secrets s",
		`volumes: [{name: v, storageos: {secretRef: {name: s}}}]`:                                                                                             "get secrets s",
		`volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {dataSource: {kind: PersistentVolumeClaim, name: p}}}}}]`:                                "get persistentvolumeclaims p",
		`volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {dataSourceRef: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: p}}}}}]`: "use volumesnapshots.snapshot.storage.k8s.io p",
		`volumes: [{name: v, emptyDir: {}}, {name: w, hostPath: {path: /}}]`:                                                                                  "",
		`imagePullSecrets: [{name: s}]`:                                                                                                                       "get secrets s",
		`serviceAccountName: robot`:                                                                                                                           "impersonate serviceaccounts robot",
		`serviceAccount: robot`:                                                                                                                               "impersonate serviceaccounts robot",
		`serviceAccountName: default`:                                                                                                                         "impersonate serviceaccounts default",
		`{serviceAccountName: default, automountServiceAccountToken: false}`:                                                                                  "",
		`priorityClassName: high`:                                     "use priorityclasses.scheduling.k8s.io high",
		`priorityClassName: opcrew-microservices`:                     "",
		`runtimeClassName: gold`:                                      "use runtimeclasses.node.k8s.io gold",
		`resourceClaims: [{name: gpu, resourceClaimName: r}]`:         "use resourceclaims.resource.k8s.io r",
		`resourceClaims: [{name: gpu, resourceClaimTemplateName: r}]`: "use resourceclaimtemplates.resource.k8s.io r",
		`containers: [{name: a}]`:                                     "",
	} {
		spec := corev1.PodSpec{}
		if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got []string
		for _, r := range references(spec) {
			if r.where == "" {
				t.Errorf("%s: expected the part of the pod that uses it", text)
			}
			got = append(got, fmt.Sprintf("%s %s %s", r.verb, r.fullResource(), r.name))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: expected %q, got %q", text, want, got)
		}
	}
}
