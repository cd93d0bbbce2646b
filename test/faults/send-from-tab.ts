import { z } from 'zod';
import type { TabMove } from './people-turns.ts';
import { pick, principalOf } from './pick.ts';
import type { SharedOffice } from './shared-office.ts';

const loadedSchema = z.looseObject({ viewer: z.string() });

/** A page that was loaded for one person sends what that person wrote or clicked, once another one has signed in. */
export async function sendFromTab(office: SharedOffice, move: TabMove): Promise<void> {
  const { viewer } = loadedSchema.parse(JSON.parse(await office.get(principalOf(move), '')));
  const { person } = move;
  const signedIn = principalOf(move.other);
  if (!move.answers) {
    const id = office.said.push(person) - 1;
    const parts = [{ type: 'text', text: `hello #${id}` }];
    const message = { id: `m${id}`, role: 'user', parts };
    await office.act('say', signedIn, async () => office.post(signedIn, { viewer, message }));
    return;
  }
  const { activeApprovalRequests } = (await office.open()).thread;
  const request = pick(activeApprovalRequests, move.nth);
  if (request === undefined) return;
  const { requestId, toolCall } = request;
  const input = toolCall?.input;
  office.clicks.push({ person, requestId, approved: true, remember: false, input });
  const answers = [request.approve()];
  await office.act('answer', signedIn, async () => office.post(signedIn, { viewer, answers }));
}
