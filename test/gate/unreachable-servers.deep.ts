import { expect, test } from 'vitest';
import { connect, readTexts } from './gate-world.ts';
import { eventually, makeServer, openGate, pay } from './tool-servers.ts';

test('why a server can not be reached is reported once, and again after it was reached', async () => {
  const server = makeServer([pay]);
  server.at.isDown = true;
  const { gate, problems } = openGate({
    servers: { bank: server },
    toolApproval: () => 'approved',
  });
  const why = "The upstream bank can't be reached: It is down.";
  const client = await connect(gate);
  for (let turn = 0; turn < 3; turn += 1) {
    await expect(client.callTool({ name: 'pay' })).rejects.toThrow('has not reached bank');
  }
  await eventually(() => server.at.tries).toBeGreaterThan(1);
  expect(problems).toEqual([why]);
  server.at.isDown = false;
  await eventually(async () => (await client.listTools()).tools).toHaveLength(1);
  await server.stop();
  expect(readTexts(await client.callTool({ name: 'pay' }))).toEqual(['Not called: It is down.']);
  await eventually(() => problems).toEqual([why, why]);
  await gate.close();
});
