import * as fc from 'fast-check';
import { people, type ToolName } from './consent-firm.ts';
import { type Move, type MoveOf, threadIds } from './consent-moves.ts';

/** Who schemes, and about what. */
const scenes = fc.record({
  process: fc.nat({ max: 1 }),
  threadId: fc.constantFrom(...threadIds),
  nth: fc.nat({ max: 2 }),
  level: fc.nat({ max: 2 }),
  kind: fc.constantFrom('a', 'b'),
  tool: fc.nat({ max: 1 }),
  cast: fc
    .shuffledSubarray([...people], { minLength: people.length })
    .map(([first = 'ann', second = 'ben', third = 'cleo', fourth = 'dora']) => ({
      first,
      second,
      third,
      fourth,
    })),
  /** Whether a new call is asked for first. */
  isNew: fc.boolean(),
  /** Which of its two forms a scheme has. */
  isLater: fc.boolean(),
});
type Scene = typeof scenes extends fc.Arbitrary<infer SCENE> ? SCENE : never;

/** Somebody asks for one of these calls. */
function ask(scene: Scene, tools: readonly [ToolName, ToolName]): Move[] {
  const { process, threadId, kind, level } = scene;
  const call = { toolName: tools[scene.tool] ?? tools[0], kind, level };
  const person = scene.cast.fourth;
  return scene.isNew
    ? [{ type: 'say', process, threadId, person, calls: [call], cancels: true }]
    : [];
}

function approve(
  { process, nth }: Scene,
  person: MoveOf<'answer'>['person'],
  instead: Partial<MoveOf<'answer'>> = {},
): Move {
  return {
    type: 'answer',
    process,
    nth,
    person,
    view: 'fresh',
    isYes: true,
    names: 'digest',
    edit: undefined,
    remembers: false,
    runs: false,
    ...instead,
  };
}

/** Somebody approves twice: for themselves, and through a colleague who has left since. */
function voteAndLeave(scene: Scene): Move[] {
  const { process, nth, cast, isLater } = scene;
  const { first: lender, second: voter } = cast;
  const lend: Move = { type: 'reassign', process, nth, person: lender, to: voter };
  const vote = approve(scene, voter);
  return [
    ...ask(scene, ['deploy', 'move']),
    ...(isLater ? [vote, lend] : [lend, vote]),
    { type: 'join or leave', team: 'owners', person: voter },
    approve(scene, lender, { runs: true }),
  ];
}

/** Somebody answers in the right of somebody else, and has it remembered, at once or when they have the right themselves. */
function rememberForAnother(scene: Scene): Move[] {
  const { process, nth, cast, isLater } = scene;
  const { first: lender, second: voter } = cast;
  const asking = ask({ ...scene, level: isLater ? 0 : scene.level }, ['pay', 'pay']);
  const later: Move[] = [
    { type: 'join or leave', team: 'owners', person: voter },
    { type: 'remember', process, nth: 0, person: voter },
  ];
  return [
    ...asking,
    { type: 'reassign', process, nth, person: lender, to: voter },
    approve(scene, voter, { remembers: !isLater, runs: true }),
    ...(isLater ? later : []),
    ...asking,
  ];
}

/** An edit ends, or the call is edited back, and others approve without saying what. */
function approveAfterEdit(scene: Scene): Move[] {
  const { process, nth, cast, isLater } = scene;
  return [
    ...ask(scene, ['deploy', 'move']),
    approve(scene, cast.first, { edit: 'amount' }),
    isLater
      ? approve(scene, cast.second, { edit: 'original' })
      : { type: 'withdraw', process, nth, person: cast.first },
    approve(scene, cast.second, { names: 'nothing' }),
    approve(scene, cast.third, { names: 'nothing', runs: true }),
  ];
}

/** Somebody stops what is approved, and somebody else goes on with it. */
function stopAndGoOn(scene: Scene): Move[] {
  const { process, threadId, cast, isLater } = scene;
  const { first, second, third, fourth } = cast;
  return [
    ...ask(scene, ['pay', 'order']),
    approve(scene, first),
    approve(scene, second),
    { type: 'stop', process, threadId, person: third },
    isLater
      ? { type: 'resume', process, threadId, person: fourth }
      : { type: 'cancel', process, threadId, person: fourth },
    { type: 'work', process, threadId, dies: false },
  ];
}

/** What people do one after the other to get past a rule. Nothing makes sure that each step can be done. */
export const schemes = fc
  .tuple(scenes, fc.constantFrom(voteAndLeave, rememberForAnother, approveAfterEdit, stopAndGoOn))
  .map(([scene, make]): Move[] => make(scene));
