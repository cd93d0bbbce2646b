import { afterAll, test } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { expectOneEffectEach } from './answer-at-once.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

test('200 approvals, answered by 8 agents at once, all of them by each: 200 effects', async () => {
  await expectOneEffectEach(server, 25);
});
