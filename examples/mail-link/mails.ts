import { readFile, writeFile } from 'node:fs/promises';
import { type Agent, inertLine, type StoredRequest, type ThreadStore } from 'holdpoint';
import type { Links } from 'holdpoint/links';
import { approvalRequestSchema, questionRequestSchema } from 'holdpoint/schemas';
import { z } from 'zod';

/** A mail, as a value: whoever can send one sends it. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

interface MailOptions {
  agent: Pick<Agent, 'rights'>;
  store: ThreadStore;
  links: Pick<Links, 'create'>;
  /** The addresses of a team, or of a person. */
  addressesOf: (name: string) => readonly string[];
  send: (mail: Mail) => Promise<void>;
  /** The file that has the position of the last change whose mails were sent. */
  positionFile: string;
}

const requestSchema = z.discriminatedUnion('type', [approvalRequestSchema, questionRequestSchema]);

/**
 * Sends a mail with a link for each request that was opened after the position that was kept last, to everybody who may answer it. A process
 * that dies in between sends again: see docs/guides/webhooks.md.
 */
export async function sendMails(options: MailOptions): Promise<void> {
  const { store, positionFile } = options;
  for (;;) {
    const after = Number(await readFile(positionFile, 'utf8').catch(() => 0));
    const [change] = (await store.requests?.changes({ after, limit: 1 })) ?? [];
    if (change === undefined) return;
    const { type, request, position } = change;
    if (type === 'opened' && request?.state === 'open') await invite(options, request);
    await writeFile(positionFile, String(position), { flush: true });
  }
}

async function invite({ agent, links, addressesOf, send }: MailOptions, row: StoredRequest) {
  if (row.text === null) return;
  const request = requestSchema.parse(JSON.parse(row.text));
  for (const to of new Set(row.approvers.flatMap(addressesOf))) {
    const [rights] = await agent.rights([row], { principal: to, channel: 'link' });
    if (rights?.mayAnswer !== true) continue;
    const link = await links.create(request, { principal: to });
    const text = `${inertLine(request.text)}\n\nSee all of it, and approve or reject it:\n${link}\n\nThe link is for you alone. Don't forward it.`;
    await send({ to, subject: `Please decide: ${inertLine(request.text)}`, text });
  }
}
