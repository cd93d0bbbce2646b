import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { freePort } from '../support/free-port.ts';
import { GateClient, GateFolder } from './gate-driver.ts';

/** A gate that lets everything run, in front of the bank. That it was killed is noticed soon. */
async function startGate(folder: GateFolder): Promise<GateClient> {
  const [command, ...args] = folder.bank;
  const gate = { name: 'payments', upstreams: { bank: { command, args } }, leaseMs: 2_000 };
  const config = join(folder.path, 'gate.js');
  writeFileSync(
    config,
    `export default { ...${JSON.stringify(gate)}, toolApproval: () => 'approved' };`,
  );
  return GateClient.start(folder, '--port', String(await freePort()), '--config', config);
}

const digestSchema = z.object({ digest: z.string() });

/** The only open request about a call, as the words that answer it. */
async function onlyOpen(folder: GateFolder) {
  const list = async () => (await folder.list()).filter(({ toolName }) => toolName !== null);
  await expect.poll(list, { timeout: 10_000 }).toHaveLength(1);
  const requestId = (await list())[0]?.requestId ?? '';
  const { output } = await folder.run('show', requestId, '--json');
  const { digest } = digestSchema.parse(JSON.parse(output));
  return { requestId, words: ['answer', requestId, '--as', 'boss', '--digest', digest] };
}

test('what a server asks during its call is answered in a shell, and the call goes on', async () => {
  using folder = new GateFolder();
  await using gate = await startGate(folder);
  const paying = gate.call('ask');
  const { requestId, words } = await onlyOpen(folder);
  const shown = await folder.run('show', requestId);
  expect(shown.output).toContain('The MCP server bank asks: How many euros?');
  expect(folder.countPayments()).toBe(0);
  const answerWith = async (text: string) =>
    folder.run(...words, '--answers', JSON.stringify({ reply: 'accept', euros: { text } }));
  expect((await answerWith('many')).error).toContain('must be an integer');
  expect(await answerWith('5')).toMatchObject({ status: 0 });
  expect(await paying).toBe('Paid: {"action":"accept","content":{"euros":5}}');
  expect(folder.countPayments()).toBe(1);
});

test('a gate that is killed while its server asks leaves a call that is unknown, and nothing to answer', async () => {
  using folder = new GateFolder();
  const gate = await startGate(folder);
  void gate.call('ask').catch(() => {});
  const { words } = await onlyOpen(folder);
  const { pid } = gate.transport;
  if (pid === null) throw new Error('The gate has no process.');
  process.kill(pid, 'SIGKILL');
  await using next = await startGate(folder);
  expect(await next.call('ask')).toContain('It is unknown whether this call of "ask" took effect');
  expect((await folder.run(...words, '--dismiss')).error).toContain('closed');
  expect(folder.countPayments()).toBe(0);
});
