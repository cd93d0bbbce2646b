import { expect, test } from 'vitest';
import { expectRefusals } from './expect-refusals.ts';
import { blockOf, others, shown, signedIn } from './server-routes.ts';

test('every server and route of the docs is played against by the deep tests', () => {
  expect([...shown.keys()].toSorted()).toEqual([...signedIn.keys(), ...others].toSorted());
});

/* One of them; the deep tests start all. */
test('the server of the documented page, as it is pasted, refuses everybody, and listens on 127.0.0.1 alone', async () => {
  await expectRefusals('docs/channels/page.md 1');
});

test('the Durable Object takes its sign-in from a file of the reader', async () => {
  const { code } = blockOf('docs/runtimes.md 2');
  expect(code).toContain(
    "import { authorize, model, toolApproval, tools } from './app.ts'; // yours",
  );
  expect(code).toContain('createUiHandler({ agent: this.agent, authorize })');
  expect(code.match(/\bfetch\(/g)).toHaveLength(1);
});
