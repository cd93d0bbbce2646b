import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createGate } from 'holdpoint/mcp';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { serveGateOverHttp } from '../../src/apps/command/gate-http.ts';
import { waitForTimer } from '../../src/content/waiting.ts';
import { cachedPackage } from '../support/cached-package.ts';
import { openConformanceTools } from './conformance-tools.ts';

/*
 * The protocol's own conformance suite, against a gate over HTTP as `holdpoint gate --http` serves it, in front of a server with the suite's tools.
 * It is the first version that tests both eras of the protocol.
 */
const suite = '@modelcontextprotocol/conformance';
const installing = cachedPackage({ [suite]: '0.2.0-alpha.12' }).catch(String);

/** What a gate does not do, and the scenarios and checks about it; `*` stands for any ending. */
const notApplicable: Record<string, readonly string[]> = {
  'A gate passes on tools, and declares neither resources nor prompts nor completions.': [
    'completion-complete',
    'resources-*',
    'prompts-*',
    'sep-2164-*',
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-*',
  ],
  'What a server logs is not passed on to clients.': [
    'logging-set-level',
    'tools-call-with-logging',
    'sep-2575-server-no-log-without-loglevel',
  ],
  'A gate asks its clients for nothing but to show its page: people are asked by the gate itself.':
    [
      'tools-call-sampling',
      'tools-call-elicitation',
      'elicitation-sep1034-*',
      'elicitation-sep1330-enums',
      'input-required-result-*',
      'sep-2575-server-rejects-undeclared-capability',
      'sep-2575-missing-capability-http-400',
      'sep-2575-http-server-no-independent-requests-on-stream',
    ],
  'A gate takes wishes for headers out of the schemas that it lists, and makes these headers itself.':
    ['sep-2243-server-no-xmcp-tool', 'http-custom-header-server-validation'],
  'A gate has no tasks: no client that was tried declares them.': ['tasks-*'],
  'A response that was cut is not continued: its client calls again, and collects the result.': [
    'server-sse-priming-event',
    'server-sse-retry-field',
  ],
};

const checksSchema = z.array(
  z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }),
);

/** Runs the scenarios of a revision of the protocol, and returns the checks by their scenario. */
async function runSuite(packages: string, url: string, revision: string) {
  const results = mkdtempSync(join(tmpdir(), 'conformance-'));
  const program = join(packages, 'node_modules', suite, 'dist', 'index.js');
  const args = [program, 'server', '--url', url, '--requirements', revision, '-o', results];
  /* Its status is 1 if any scenario fails. */
  await new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, resolve);
  });
  return globSync(join(results, '*', 'checks.json')).flatMap((file) => {
    const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(basename(dirname(file)))?.[1] ?? '';
    const checks = checksSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return checks.map((check) => ({ ...check, scenario, revision }));
  });
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

test('a gate passes every check of the conformance suite that applies to it, in both eras', async (context) => {
  const packages = await installing;
  if (!packages.startsWith('/')) return context.skip(`It could not be installed: ${packages}`);
  const gate = createGate({
    upstreams: { suite: { transport: openConformanceTools } },
    toolApproval: () => 'approved',
    authorize: () => ({ principal: 'ada' }),
    /* The suite waits for progress for less than a second. */
    wait: async (ms, signal) => waitForTimer(ms / 250, signal),
  });
  const server = await serveGateOverHttp(gate, 0);
  const checks = [
    ...(await runSuite(packages, server.url, '2025-11-25')),
    ...(await runSuite(packages, server.url, '2026-07-28')),
  ];
  await server.close();
  await gate.close();

  const patterns = Object.values(notApplicable).flat();
  const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  const isAbout = ({ scenario, id }: (typeof checks)[number]) => [scenario, id];
  const unexplained = bad.filter(
    (check) => !patterns.some((one) => isAbout(check).some((name) => matches(one, name))),
  );
  expect(unexplained).toEqual([]);
  const stale = patterns.filter(
    (one) => !bad.some((check) => isAbout(check).some((name) => matches(one, name))),
  );
  expect(stale).toEqual([]);
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
  expect(passed).toBeGreaterThanOrEqual(160);
});
