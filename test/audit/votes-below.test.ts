import type { MayAnswer } from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { expect, test } from 'vitest';
import { childOf, desk, quorum, requestIn } from '../tools/payment-desk.ts';

/** Lets these three approve, and whom one of them has asked instead. */
const mayAnswer: MayAnswer = ({ principal, request }) => {
  const asked = request.type === 'approval-request' ? (request.approvers ?? []) : [];
  return ['Ada', 'Ben', 'Cem', ...asked].includes(String(principal));
};

/** Who did what about requests, by the trail of a desk's thread, and for whom. */
async function readDoers({ clerk }: Awaited<ReturnType<typeof desk>>): Promise<string[]> {
  const { rows } = await auditTrail(await clerk.thread('t'));
  return rows
    .filter(({ requestId, what }) => requestId !== undefined && what !== 'approval requested')
    .map(({ what, who, details }) => {
      const lender = details?.['onBehalfOf'];
      const instead = typeof lender === 'string' ? ` for ${lender}` : '';
      return `${String(who)}${instead}: ${what}`;
    });
}

test("what people said about a sub-agent's request is in the trail above, also what no process showed in time, after its thread is deleted", async () => {
  const at = await desk(
    { clerk: { mayAnswer }, payer: { mayAnswer } },
    { ...quorum, editable: true },
  );
  const { clerk, payer, thread, dying } = at;
  const shown = requestIn(thread);
  const says = async (principal: string, euros?: number) =>
    clerk.respond(shown.approve(euros === undefined ? {} : { input: { euros } }), thread, {
      principal,
    });
  dying.threadId = 't';
  await expect(says('Ada')).rejects.toThrow('The process died.');
  await expect(says('Ben', 50)).rejects.toThrow('The process died.');
  await expect(clerk.withdraw(thread, shown.requestId, { principal: 'Ben' })).rejects.toThrow();
  dying.threadId = '';
  await clerk.reassign(thread, shown.requestId, 'Dee', { principal: 'Ada' });
  await says('Dee');
  await clerk.run(requestIn(thread).approve(), thread, { principal: 'Cem' });
  expect(at.paid).toEqual([{ euros: 900 }]);
  await payer.delete(await childOf(at));
  expect(await readDoers(at)).toEqual([
    'Ada: approved, others must too',
    'Ben: approved, others must too',
    'Ben: approval withdrawn',
    'Ada: request reassigned',
    'Dee for Ada: approved, others must too',
    'Cem: approved',
  ]);
});

test('the end of a sub-agent’s request that nobody answered is in the trail above, after its thread is deleted', async () => {
  const at = await desk({ payer: { mayAnswer } }, { ...quorum, expiresAfterMs: 60_000 });
  at.clock.now += 60_001;
  await at.clerk.run([], at.thread);
  await at.payer.delete(await childOf(at));
  expect(await readDoers(at)).toEqual(['undefined: request expired']);
});
