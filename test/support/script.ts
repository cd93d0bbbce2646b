import type { LanguageModel } from 'ai';

/** A tool call of a scripted model. `input` is JSON, or the raw text a model wrote. */
export interface ScriptedCall {
  id: string;
  name: string;
  input: object | string;
}

/** What a scripted model answers to one request; the script's steps are played in order, one a request. */
export interface ScriptedStep {
  /** What the model thinks before all else; empty where the provider hides it. Providers want it back unchanged. */
  reasoning?: string;
  text?: string;
  calls?: ScriptedCall[];
  /** Default: `tool-calls` where there are calls, else `stop`. */
  finish?: 'stop' | 'tool-calls' | 'length' | 'content-filter';
  /** The request fails instead, in a way that the AI SDK does not retry. */
  fail?: string;
}

/** A model that plays a script. */
export interface PlayedModel extends AsyncDisposable {
  model: LanguageModel;
  /** How many requests it has got. */
  readonly requests: number;
  /** What the requests broke of the provider's rules. Absent where nothing checks them. */
  readonly violations?: readonly string[];
  /** The bodies of the requests as they came over the wire. Absent in memory. */
  readonly bodies?: readonly unknown[];
}

/** A way to play scripts: in memory, or through a real provider package against a local server. */
export interface ModelKit {
  name: string;
  /** `false` where the provider's API has no text for a call's input: a script can't send one that is no JSON. */
  canSendRawInput?: boolean;
  play(script: ScriptedStep[]): Promise<PlayedModel>;
}
