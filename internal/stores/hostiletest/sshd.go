// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostiletest

import (
	"encoding/binary"
	"net"
	"strings"
)

const (
	// sshVersion is the first line that an sshd sends.
	sshVersion = "SSH-2.0-OpenSSH_10.0\r\n"
	// The types of ssh messages that the fake servers send (RFC 4253, section 12, and RFC 5656, section 7.1).
	msgIgnore, msgOffer, msgReply = 2, 20, 31
)

// ServeSSH starts one fake sshd for each kind of hostile behaviour, and returns the addresses by kind.
func ServeSSH() map[string]string {
	out := map[string]string{}
	for name, serve := range sshSorts() {
		out[name] = Serve(serve)
	}
	return out
}

func sshSorts() map[string]func(net.Conn) {
	block := strings.Repeat("x", 64<<10)
	garbage := packet(msgReply, text("no host key")+text("no key of 32 bytes")+text("no signature"))
	ignored := strings.Repeat(packet(msgIgnore, text("x")), 1000)
	return map[string]func(net.Conn){
		"lines before the version":    Endless("welcome\r\n", strings.Repeat("welcome\r\n", 6000)),
		"a line without end":          Endless("welcome ", block),
		"a version without end":       Endless("SSH-2.0-", block),
		"a version of the future":     Endless("SSH-9.9-OpenSSH_99.9\r\n", block),
		"a packet beyond memory":      Endless(sshVersion+"\xff\xff\xff\xff", block),
		"a packet of no size":         Endless(sshVersion+"\x00\x00\x00\x00", strings.Repeat("\x00", 64<<10)),
		"padding beyond the packet":   Endless(sshVersion+"\x00\x00\x00\x0c\xff", block),
		"messages without end":        Endless(sshVersion+ignored, ignored),
		"an offer of garbage":         Endless(sshVersion+packet(msgOffer, strings.Repeat("\xff", 1<<10)), garbage),
		"an offer of many algorithms": Endless(sshVersion+packet(msgOffer, offer(strings.Repeat("x,", 15_000)+"x")), garbage),
		"a garbage key exchange":      Endless(sshVersion+packet(msgOffer, offer("curve25519-sha256")), garbage),
		"one byte a second":           Slow(sshVersion + block),
		"no answer":                   Hang,
		"a closed connection":         Close,
	}
}

// packet encodes an ssh message that is neither encrypted nor compressed.
func packet(kind byte, content string) string {
	padding := 8 - (6+len(content))%8 + 8 // at least four bytes, and a multiple of eight in total
	size := binary.BigEndian.AppendUint32(nil, uint32(2+len(content)+padding))
	return string(size) + string([]byte{byte(padding), kind}) + content + strings.Repeat("\x00", padding)
}

// text encodes a string as an ssh message contains it.
func text(s string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s
}

// offer encodes the algorithms that a server offers. All other lists name algorithms that every client knows.
func offer(exchange string) string {
	const cipher, mac = "aes128-ctr", "hmac-sha2-256"
	lists := []string{exchange, "ssh-ed25519", cipher, cipher, mac, mac, "none", "none", "", ""}
	var out strings.Builder
	out.WriteString(strings.Repeat("\x00", 16)) // the cookie
	for _, list := range lists {
		out.WriteString(text(list))
	}
	return out.String() + "\x00\x00\x00\x00\x00"
}
