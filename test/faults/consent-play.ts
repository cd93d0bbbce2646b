import type { ApprovalRequestContent, ApprovalResponseContent } from 'holdpoint';
import type { KeptThreads } from '../support/store-kits.ts';
import type { Group } from './consent-histories.ts';
import type { Move, MoveOf } from './consent-moves.ts';
import { threadIds, type ThreadId } from './consent-moves.ts';
import type { Fault } from './consent-facts.ts';
import { ConsentWorld, outermost, readInput } from './consent-world.ts';
import { pick } from './pick.ts';

/** Plays a history over a store, and returns what was broken, and how it went. Each process has a handle of its own. */
export async function playHistory(
  history: readonly Group[],
  keep: () => Promise<KeptThreads>,
): Promise<{ faults: readonly Fault[]; story: readonly string[] }> {
  using world = new ConsentWorld(await keep(), keep);
  for (const { moves, beats } of history) {
    if (moves.every(mayCoincide)) await playGroup(world, { moves, beats });
    else for (const move of moves) await playGroup(world, { moves: [move], beats: [] });
  }
  return { faults: world.oracle.faults, story: world.story };
}

/** What happens at once is judged together. */
async function playGroup(world: ConsentWorld, { moves, beats }: Group): Promise<void> {
  world.beats = moves.length > 1 ? beats : [];
  world.story.push(JSON.stringify(moves));
  const approved = moves.some(mayEnd) ? await listUnstarted(world) : [];
  await Promise.all(moves.map(async (move) => world.survive(async () => make(world, move))));
  world.beats = [];
  world.revive();
  await blame(world, approved);
  world.oracle.judge(world.now);
  await world.look();
}

/** What may happen while something else happens. */
function mayCoincide({ type }: Move): boolean {
  return type !== 'join or leave' && type !== 'clock' && type !== 'restore';
}

function mayEnd({ type }: Move): boolean {
  return type === 'cancel' || type === 'stop' || type === 'say';
}

/** The approved calls that have not started. */
async function listUnstarted(world: ConsentWorld): Promise<string[]> {
  const approved = world.oracle.listApproved();
  if (approved.length === 0) return [];
  const calls = await world.calls();
  return calls
    .filter(({ ref, call }) => approved.includes(ref) && call.status === 'approved')
    .map(({ ref }) => ref);
}

async function blame(world: ConsentWorld, approved: readonly string[]): Promise<void> {
  if (approved.length === 0) return;
  for (const { ref, call } of await world.calls()) {
    if (approved.includes(ref) && call.status === 'denied') world.oracle.undo(ref, call.status);
  }
}

async function make(world: ConsentWorld, move: Move): Promise<void> {
  const { oracle } = world;
  switch (move.type) {
    case 'say':
      return say(world, move);
    case 'answer':
      return answer(world, move);
    case 'link':
      return pressLinks(world, move);
    case 'join or leave':
      return world.teams.toggle(move.team, move.person);
    case 'clock':
      world.now += move.ms;
      return;
    case 'restore':
      return restore(world, move);
    case 'work': {
      const process = world.process(move.process);
      process.isMortal = move.dies;
      const thread = await world.thread(process, move.threadId);
      await world.act(process, move.type, async () => outermost(process).run([], thread));
      return;
    }
    case 'cancel':
    case 'stop':
    case 'resume': {
      const process = world.process(move.process);
      const agent = outermost(process);
      const { type, threadId, person } = move;
      const thread = await world.thread(process, threadId);
      const by = person === undefined ? {} : { principal: person };
      const end = await world.act(process, type, async () => {
        if (type === 'cancel') return agent.cancel(thread, 'Enough.', by);
        if (type === 'stop') return agent.stop(thread, by);
        return agent.run([], thread, { ...by, resumeStopped: true });
      });
      return oracle.do({ type, threadId, person, end });
    }
    case 'withdraw':
    case 'reassign':
    case 'remember': {
      const request = pick(move.type === 'remember' ? listDecided(world) : world.open, move.nth);
      if (request === undefined) return;
      const { requestId } = request;
      const { process, agent, thread } = await reach(world, move, request);
      const { type, person } = move;
      const by = { principal: person };
      const end = await world.act(process, type, async () => {
        if (type === 'withdraw') return agent.withdraw(thread, requestId, by);
        if (type === 'reassign') return agent.reassign(thread, requestId, move.to, by);
        return agent.remember(thread, requestId, rememberOf(request), by);
      });
      return oracle.do(
        type === 'reassign'
          ? { type, requestId, person, end, to: move.to }
          : { type, requestId, person, end },
      );
    }
    case 'settle':
    case 'deliver':
      return conclude(world, move);
    case 'revoke': {
      const process = world.process(move.process);
      const agent = outermost(process);
      const grants = await agent.grants();
      const grant = pick(grants, move.nth);
      if (grant === undefined) return;
      const end = await world.act(process, 'revoke', async () =>
        agent.revoke(grant, { principal: move.person }),
      );
      return oracle.do({ type: 'revoke', requestId: grant.requestId, end });
    }
  }
}

/** The requests that are no longer open, the newest first. */
function listDecided({ shown, open }: ConsentWorld): ApprovalRequestContent[] {
  const isOpen = (requestId: string) => open.some((each) => each.requestId === requestId);
  const latest = new Map(shown.map((request) => [request.requestId, request]));
  return [...latest.values()].filter(({ requestId }) => !isOpen(requestId)).toReversed();
}

async function say(world: ConsentWorld, move: MoveOf<'say'>): Promise<void> {
  const { threadId, person, cancels } = move;
  const process = world.process(move.process);
  const thread = await world.thread(process, threadId);
  const text = world.plan(move.calls, person);
  const whilePending = cancels ? 'cancel' : 'refuse';
  const end = await world.act(process, 'say', async () =>
    outermost(process).run(text, thread, { principal: person, whilePending }),
  );
  if (cancels) world.oracle.do({ type: 'interrupt', threadId, person, end });
}

/** The agent, the handle and the process with which somebody acts on a request. */
async function reach(
  world: ConsentWorld,
  move: { process: number },
  request: ApprovalRequestContent,
) {
  const process = world.process(move.process);
  const thread = await world.thread(process, threadIdOf(request));
  return { process, agent: outermost(process), thread };
}

function threadIdOf({ threadId }: { threadId: string }): ThreadId {
  const found = threadIds.find((each) => each === threadId);
  if (found === undefined) throw new Error(`${threadId} is no thread of the outermost agent.`);
  return found;
}

async function answer(world: ConsentWorld, move: MoveOf<'answer'>): Promise<void> {
  const shown = move.view === 'stale' ? world.shown.slice(-6) : world.open;
  const request = pick(shown, move.nth);
  if (request === undefined) return;
  const { process, agent, thread } = await reach(world, move, request);
  const response = makeAnswer(request, move);
  const by = { principal: move.person };
  const kind = move.isYes ? 'yes' : 'no';
  const end = await world.act(process, kind, async () =>
    move.runs ? agent.run(response, thread, by) : agent.respond(response, thread, by),
  );
  const was = JSON.stringify(readInput(request.toolCall?.input));
  const input = response.input === undefined ? was : JSON.stringify(response.input);
  world.oracle.say({
    requestId: request.requestId,
    person: move.person,
    isYes: move.isYes,
    input,
    isNamed: response.digest !== undefined || response.input !== undefined,
    edits: input !== was,
    remembers: response.remember !== undefined,
    end,
  });
}

/** The answer as plain data: it may say less than the request's own methods, and ask for what the request doesn't allow. */
function makeAnswer(
  request: ApprovalRequestContent,
  { isYes, names, edit, remembers }: MoveOf<'answer'>,
): ApprovalResponseContent {
  const { requestId, digest, toolCall } = request;
  const shown = readInput(toolCall?.input);
  const amount = edit === 'amount' ? 7 : edit === 'original' ? 100 : shown.amount;
  const isWritten = isYes && (edit !== undefined || names === 'input');
  return {
    type: 'approval-response',
    requestId,
    approved: isYes,
    ...(names === 'digest' ? { digest } : {}),
    ...(isWritten ? { input: { ...shown, amount } } : {}),
    ...(remembers && isYes ? { remember: rememberOf(request) } : {}),
  };
}

/** What later calls are to be decided too: as many as the request allows, and some where it allows none. */
function rememberOf({ remember = { scope: 'everyone', match: ['kind'] } }: ApprovalRequestContent) {
  return remember;
}

/** Somebody gets a link, and buttons of its page are pressed at once. */
async function pressLinks(world: ConsentWorld, move: MoveOf<'link'>): Promise<void> {
  const request = pick(world.open, move.nth);
  if (request === undefined) return;
  const { person } = move;
  const maker = world.process(move.process);
  const { links } = maker;
  let link = '';
  await world.act(maker, 'link', async () => {
    link = await links.create(request, { principal: person });
  });
  if (link === '') return;
  const page = await (await links.handler(new Request(link))).text();
  const hidden = readHidden(page);
  const ends = await Promise.all(
    move.presses.map(async ({ process: nth, isYes }) => {
      const process = world.process(nth);
      const action = isYes ? 'approve' : 'reject';
      let status = 0;
      await world.act(process, `link ${action}`, async () => {
        const body = new URLSearchParams({ ...hidden, action, reason: '' });
        const headers = { 'sec-fetch-site': 'same-origin', origin: 'https://firm.example' };
        status = (await process.links.handler(new Request(link, { method: 'POST', body, headers })))
          .status;
      });
      const end = status === 200 ? 'taken' : 'refused';
      world.taken[`link ${action} ${status}`] = (world.taken[`link ${action} ${status}`] ?? 0) + 1;
      world.oracle.say({
        requestId: request.requestId,
        person,
        isYes,
        input: JSON.stringify(readInput(request.toolCall?.input)),
        isNamed: true,
        edits: false,
        remembers: false,
        end,
      });
      return end;
    }),
  );
  const isSame = new Set(move.presses.map(({ isYes }) => isYes)).size < 2;
  if (!isSame && ends.every((end) => end === 'taken'))
    world.oracle.report('links', `A link of ${person} was answered twice.`);
}

function readHidden(page: string): Record<string, string> {
  const fields = page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
  return Object.fromEntries(
    [...fields].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))),
    ]),
  );
}

/** Somebody says what became of a call that was lost, or that continued elsewhere. */
async function conclude(
  world: ConsentWorld,
  move: MoveOf<'settle'> | MoveOf<'deliver'>,
): Promise<void> {
  const isSettled = move.type === 'settle';
  const status = isSettled ? 'indeterminate' : 'deferred';
  const calls = await world.calls(move.process);
  const found = pick(
    calls.filter(({ call }) => call.status === status),
    move.nth,
  );
  if (found === undefined) return;
  const { agent, thread, call, ref } = found;
  const by = move.person === undefined ? {} : { principal: move.person };
  const process = world.process(move.process);
  const retries = isSettled && move.retries;
  const end = await world.act(process, move.type, async () =>
    retries
      ? agent.settle(thread, call.toolCallId, { status: 'retry' }, by)
      : agent.deliver(thread, call.toolCallId, { status: 'succeeded', output: 'known' }, by),
  );
  if (retries) world.oracle.do({ type: 'retry', ref, end });
}

async function restore(world: ConsentWorld, move: MoveOf<'restore'>): Promise<void> {
  if (move.isElsewhere) return world.moveElsewhere();
  const [from, to] = [world.process(move.process), world.process(1 - move.process)];
  for (const threadId of threadIds) {
    const copy = JSON.stringify(await world.thread(from, threadId));
    await world.act(to, 'restore', async () => outermost(to).restore(copy));
  }
}
