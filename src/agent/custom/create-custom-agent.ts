import type { FlexibleSchema, ToolSet } from 'ai';
import { requireFunctions } from '../../content/check-settings.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import type { CheckedRules } from '../../policy/checked-rules.ts';
import type { SharedAgentOptions } from '../agent-options.ts';
import type { Agent } from '../agent.ts';
import { runsAtProvider } from '../calls/check-rules.ts';
import { refuseUnknownSettings, sharedSettings } from '../known-settings.ts';
import { makeAgent } from '../create-agent.ts';
import type { CustomStep } from './custom-step.ts';
import {
  type CustomStepInput,
  makeCustomSteps,
  makeLateApprovalEvents,
} from './take-custom-step.ts';

/** The options of `createCustomAgent`: the function that takes a step, and those of `createAgent` that don't concern a model. */
export interface CustomAgentOptions<
  PROGRESS = unknown,
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> extends SharedAgentOptions<TOOLS, RUNTIME_CONTEXT> {
  /**
   * Takes one step: it gets the input, the saved progress, and the decisions of requests, and returns the reply, calls, requests and new
   * progress, which are recorded together. After a failure or a crash it is called again for the same step, so everything that must happen
   * at most once belongs in a tool call.
   */
  step(
    input: CustomStepInput<PROGRESS, ToolCall<TOOLS>, RUNTIME_CONTEXT>,
  ): CustomStep<PROGRESS, ToolCall<TOOLS>> | PromiseLike<CustomStep<PROGRESS, ToolCall<TOOLS>>>;
  /** The schema of `progress`, which types it and checks what was saved, perhaps by an older version of the app. */
  progressSchema?: FlexibleSchema<PROGRESS>;
}

const customSettings = {
  ...sharedSettings,
  step: true,
  progressSchema: true,
} satisfies Record<keyof CustomAgentOptions, true>;

/**
 * Creates a custom agent: one whose steps are a function of the app instead of a model. It has the same threads, runs, tools, requests
 * and answers as every agent, and works with the same stores, workers and channels.
 *
 * The function is called for each step. It can ask people, call tools, and save its progress; what it returns is recorded in one append.
 * The next step is taken when all requests of the step are decided and all its calls have ended, in any process.
 *
 * Throws a `TypeError` as `createAgent` does, and for a tool that runs at a provider. A run rejects with a `TypeError` if the function
 * returns something that can't be recorded.
 *
 * @example
 * const publisher = createCustomAgent({
 *   name: 'publisher',
 *   store,
 *   progressSchema: z.object({ draft: z.string() }),
 *   async step({ input, progress, decisions }) {
 *     if (progress === undefined) {
 *       const draft = await write(input);
 *       return { progress: { draft }, requests: { publish: { type: 'approval-request', text: `Publish "${draft}"?` } } };
 *     }
 *     const isApproved = decisions.get('publish')?.status === 'approved';
 *     return { text: isApproved ? `Published: ${progress.draft}` : 'Nothing was published.' };
 *   },
 * });
 */
export function createCustomAgent<
  PROGRESS = unknown,
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
  const RULES = unknown,
>(
  options: CheckedRules<TOOLS, RULES> & CustomAgentOptions<PROGRESS, TOOLS, RUNTIME_CONTEXT>,
): Agent<RUNTIME_CONTEXT, ToolCall<TOOLS>>;
/* The types assume that progress and calls in the log fit them: `progressSchema` and the tools' schemas check that. */
export function createCustomAgent(
  options: CustomAgentOptions<unknown, ToolSet, unknown>,
): Agent<unknown> {
  refuseUnknownSettings('createCustomAgent', options, customSettings);
  const { progressSchema } = options;
  requireFunctions('createCustomAgent', options, ['step']);
  refuseProviderTools(options.tools ?? {});
  return makeAgent(options, (made) => ({
    modelName: undefined,
    makeStep: makeCustomSteps({
      ...made,
      agentName: options.name,
      step: async (input) => options.step(input),
      progressSchema,
    }),
    beforeStep: async (state) => makeLateApprovalEvents(made, state),
    hasModel: false,
    allowSystemInMessages: false,
  }));
}

/* Its calls would wait for results that are never delivered. */
function refuseProviderTools(tools: ToolSet): void {
  const found = Object.entries(tools).find(([, tool]) => runsAtProvider(tool));
  if (found === undefined) return;
  throw new TypeError(
    `Tool '${found[0]}' runs at a model's provider, and a custom agent has no model. Call the model in a step or in a tool instead.`,
  );
}
