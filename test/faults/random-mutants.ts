import { authorMutants } from './author-mutants.ts';
import { callerMutants } from './caller-mutants.ts';
import { contextMutants } from './context-mutants.ts';
import { editMutants } from './edit-mutants.ts';
import { historyMutants } from './history-mutants.ts';
import { identityMutants } from './identity-mutants.ts';
import type { SourceMutant } from './source-mutants.ts';
import { viewerMutants } from './viewer-mutants.ts';

/* Each stands for one way in which a call ran that too few entitled people had approved, or was not decided for whoever had asked. */
const promises = new Set([
  'a part before a new message is no answer of its sender',
  'a message of answers before another message is no answer of its sender',
  'an input of null is an input',
  'an edit function that returns the new input makes it',
  'who edits may answer the edited request',
  'a request shows the input that will run',
  'a request shows the text for the input that will run',
  'a call is everybody’s whose message led to it',
  'a standing approval for one person decides only what that person alone asked for',
  'two spellings of a name are one person',
  'votes are counted by today’s principalId',
  'who continues somebody else’s turn brings no context to it',
  'nor does one of several requesters',
  'a run is in the log with who caused it',
  'rules get everybody for whom the agent works',
  'what was answered on another channel becomes nobody else’s words',
  'a page that was loaded for somebody else is refused',
  'also before it posts anything',
]);

/* Ending a request is checked twice, so what both checks ask is broken. */
const endingMutants: readonly Pick<SourceMutant, 'promise' | 'within' | 'from' | 'to'>[] = [
  {
    promise: 'nobody ends a request that they may not reject',
    within: 'admitEndings',
    from: 'await refuseUnlessAllowed(context, state, ended, ender);',
    to: '',
  },
  {
    promise: 'who ends a request is recorded',
    within: 'describeClosedBy',
    from: '...(principal === undefined ? {} : { principal }),',
    to: '',
  },
];

/* Each stands for one way in which a company notices another one on the same tool server. */
const tenantPromises = new Set([
  'a grant is its caller’s',
  'and its user’s',
  'calls of two callers with the same ids are two calls',
  'calls of two users with the same ids are two calls',
  'who signs a message stops no other caller’s calls',
  'a message that names a user is about no other user',
  'a prompt is answered by the caller whose call asks',
]);

const peoplesMutants = [
  ...historyMutants,
  ...editMutants,
  ...identityMutants,
  ...contextMutants,
  ...authorMutants,
  ...viewerMutants,
];

function atRandom(
  mutants: readonly Pick<SourceMutant, 'promise' | 'within' | 'from' | 'to'>[],
  suite: SourceMutant['suite'],
): SourceMutant[] {
  return mutants.map((mutant) => ({
    ...mutant,
    promise: `at random: ${mutant.promise}`,
    suite,
    sentence: /Property failed/,
  }));
}

/** The guards without which people who share a thread, a history, a page or a tool server are found out by playing them at random. */
export const randomMutants: readonly SourceMutant[] = [
  ...atRandom(
    [...peoplesMutants.filter(({ promise }) => promises.has(promise)), ...endingMutants],
    ['policy/shared-people.deep', 'in the same thousand plays'],
  ),
  ...atRandom(
    callerMutants.filter(({ promise }) => tenantPromises.has(promise)),
    ['rap-tools/any-tenants', 'what it would see alone'],
  ),
];
