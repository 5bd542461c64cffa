// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package opimage builds and pushes the project's three images: the operator, the agent in users' pods, and the program
// that saves and restores etcd.
//
// It derives the names of the three images, builds them from the programs in bin, decides where each image is sent (to
// a registry, or to the local cluster's nodes), and puts their names into manifests. Package image provides the
// functions that build and send an image. The Makefile builds the programs.
package opimage
