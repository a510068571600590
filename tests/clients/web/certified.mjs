// Certificates, and a Chromium that presents one, in a folder of their own.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

export const folder = mkdtempSync(join(tmpdir(), 'toolwire-certificate-'));
export const file = (name) => join(folder, name);

function run(command, ...words) {
  execFileSync(command, words, { stdio: ['ignore', 'ignore', 'pipe'] });
}

export function certificate(name, ...options) {
  run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
    '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`), '-subj', `/CN=${name}`, ...options);
}

// A certificate of the authority for these alternative names.
export function signed(name, names) {
  certificate(name, '-addext', `subjectAltName=${names}`, '-addext', 'basicConstraints=critical,CA:FALSE',
    '-CA', file('ca.pem'), '-CAkey', file('ca.key'));
}

// A browser that trusts the authority, and presents the certificate `person` to every server that asks for one. On
// Linux Chromium keeps both in a database of NSS, below its user's home.
export async function startBrowser() {
  const database = file('.pki/nssdb');
  mkdirSync(database, { recursive: true });
  run('certutil', '-N', '-d', `sql:${database}`, '--empty-password');
  run('certutil', '-A', '-d', `sql:${database}`, '-n', 'authority', '-t', 'C,,', '-i', file('ca.pem'));
  run('openssl', 'pkcs12', '-export', '-in', file('person.pem'), '-inkey', file('person.key'), '-name', 'person',
    '-passout', 'pass:', '-out', file('person.p12'));
  run('pk12util', '-i', file('person.p12'), '-d', `sql:${database}`, '-W', '', '-K', '');
  const chosen = { '*': { setting: { filters: [{}] } } };
  mkdirSync(file('profile/Default'), { recursive: true });
  writeFileSync(file('profile/Default/Preferences'),
    JSON.stringify({ profile: { content_settings: { exceptions: { auto_select_certificate: chosen } } } }));
  return chromium.launchPersistentContext(file('profile'), {
    executablePath: process.env.CHROMIUM,
    env: { ...process.env, HOME: folder },
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
      '--host-resolver-rules=MAP *.test 127.0.0.1',
    ],
  });
}
