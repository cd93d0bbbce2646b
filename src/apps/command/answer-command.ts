import type { Command } from 'commander';
import { z } from 'zod';
import type { Agent } from '../../agent.ts';
import { withQuestionAnswers } from '../../content/answerable.ts';
import { approve, reject } from '../../content/approval.ts';
import { readErrorText } from '../../content/app-errors.ts';
import type { FieldAnswer, QuestionRequestContent } from '../../content/question.ts';
import type { UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import {
  addAnswererOptions,
  adviseOn,
  answererFields,
  channel,
  openAnsweringAgent,
} from './answering-agent.ts';
import { addStoreOptions, storeFields, withStore } from './command-store.ts';
import { parseJsonOption } from './json-option.ts';
import { planCommand, UsageError } from './run-command.ts';
import { findLogged, refuseOther, type LoggedContent } from './logged-request.ts';

const answerSchema = z.object({
  ...storeFields,
  ...answererFields,
  args: z.tuple([z.string()]),
  approve: z.boolean().optional(),
  reject: z.boolean().optional(),
  reason: z.string().exactOptional(),
  input: z.json().exactOptional(),
  option: z.array(z.string()).exactOptional(),
  text: z.string().exactOptional(),
  answers: z.json().optional(),
  dismiss: z.boolean().optional(),
});

/** `holdpoint answer` */
export const addAnswerCommand = planCommand({
  name: 'answer <requestId>',
  summary: 'record an answer',
  description:
    'Record an answer to an approval request or a question. It runs nothing: a worker or your app does. Whoever can write to the store can answer as anybody, so who may is up to the permissions of the file or the database.',
  addOptions: (command) => addAnswers(addAnswererOptions(addStoreOptions(command))),
  statuses: [
    'recorded, or recorded before',
    'refused; nothing has changed',
    'the arguments are wrong, or the store or the rules could not be read',
  ],
  schema: answerSchema,
  async run({ args: [id], as: principal, digest, rules, store: file, postgres, ...given }, world) {
    refuseUnclear(given);
    return withStore({ store: file, postgres }, world, async (store) => {
      const shown = await findLogged(store, id);
      const { row, log } = shown;
      const response = makeResponse(shown.content, digest, given);
      if (response.type === 'question-response') refuseOther(shown, digest);
      const agent = await openAnsweringAgent(store, log.state.head.agent, {
        as: principal,
        rules,
        now: world.now,
      });
      await respond(agent, row.threadId, response, { principal, rules });
      const { state, votes, quorum } = (await findLogged(store, row.requestId)).row;
      const json = { requestId: row.requestId, threadId: row.threadId, state, votes, quorum };
      const text =
        state === 'open'
          ? `Recorded: ${votes} of ${quorum} approvals. It waits for others.`
          : `Recorded: ${state}.`;
      return { status: 0, json, text };
    });
  },
});

function addAnswers(command: Command): Command {
  return command
    .option('--approve', 'approve it')
    .option('--reject', 'reject it')
    .option(
      '--reason <text>',
      'why, with --approve or --reject; the agent reads that of a rejection',
    )
    .option('--input <json>', 'approve the call with this input instead', parseJsonOption)
    .option(
      '--option <id>',
      'answer a question of one field with this option; can be repeated',
      (id: string, ids: readonly string[] | undefined) => [...(ids ?? []), id],
    )
    .option('--text <text>', 'answer it with this text, or add it to the option')
    .option(
      '--answers <json>',
      'answer a question of several fields: an object with the answer to each by its key',
      parseJsonOption,
    )
    .option('--dismiss', 'close a question without an answer');
}

type Given = Pick<
  z.infer<typeof answerSchema>,
  'approve' | 'reject' | 'reason' | 'input' | 'option' | 'text' | 'answers' | 'dismiss'
>;

/** Throws unless exactly one answer is given. Only the option that says so approves. */
function refuseUnclear({
  approve: yes,
  reject: no,
  reason,
  input,
  option,
  text,
  answers,
  dismiss,
}: Given) {
  const isPicked = (option ?? text) !== undefined;
  const ways = [yes, no, isPicked, answers !== undefined, dismiss].filter((way) => way === true);
  if (ways.length !== 1) {
    throw new UsageError(
      'Pass one answer: --approve, --reject, --option or --text, --answers, or --dismiss.',
    );
  }
  if (input !== undefined && yes !== true) throw new UsageError('--input needs --approve.');
  if (reason !== undefined && yes !== true && no !== true)
    throw new UsageError('--reason needs --approve or --reject.');
}

/** Makes the answer, with the digest of what was shown. Throws `invalid-answer` for an answer of another kind than the request. */
function makeResponse(
  content: LoggedContent,
  digest: string,
  given: Given,
): UserInputResponseContent {
  const { approve: yes, reject: no, reason, input } = given;
  switch (content.type) {
    case 'approval-request': {
      const said = reason === undefined ? {} : { reason };
      if (yes === true) {
        const edited = input === undefined ? {} : { input };
        return { ...approve(content, { ...said, ...edited }), digest };
      }
      if (no === true) return { ...reject(content, said), digest };
      break;
    }
    case 'question-request':
      if (yes !== true && no !== true) return answerQuestion(content, given);
      break;
    case 'lost-call':
    case 'stuck-thread':
      throw new HoldpointError('invalid-answer', 'Nobody is asked here: see "holdpoint settle".');
  }
  const wanted =
    content.type === 'approval-request'
      ? 'an approval: --approve or --reject'
      : 'a question: --option, --text, --answers or --dismiss';
  throw new HoldpointError('invalid-answer', `Request ${content.requestId} is ${wanted}.`, {
    requestId: content.requestId,
  });
}

function answerQuestion(
  request: QuestionRequestContent,
  { dismiss, answers, option, text }: Given,
): UserInputResponseContent {
  const question = withQuestionAnswers(request);
  const one = { optionIds: option, text };
  try {
    if (dismiss === true) return question.dismiss();
    return question.answer(answers === undefined ? one : answersSchema.parse(answers));
  } catch (error) {
    const { requestId } = request;
    throw new HoldpointError('invalid-answer', readErrorText(error), { requestId, cause: error });
  }
}

const fieldAnswerSchema: z.ZodType<FieldAnswer> = z.union([
  z.string(),
  z.array(z.string()),
  z.strictObject({
    optionIds: z.array(z.string()).exactOptional(),
    text: z.string().exactOptional(),
  }),
]);
const answersSchema = z.record(z.string(), fieldAnswerSchema);

async function respond(
  agent: Agent<unknown>,
  threadId: string,
  response: UserInputResponseContent,
  { principal, rules }: { principal: unknown; rules: string | undefined },
): Promise<void> {
  try {
    await agent.respond(response, await agent.thread(threadId), { principal, channel });
  } catch (error) {
    throw adviseOn(error, rules);
  }
}
