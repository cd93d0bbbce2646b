import type { LanguageModel } from 'ai';

/** A tool call of a scripted model. `input` is JSON, or the raw text a model wrote. */
export interface ScriptedCall {
  id: string;
  name: string;
  input: object | string;
}

/** What a scripted model answers to one request; the script's steps are played in order, one a request. */
export interface ScriptedStep {
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
}

/** A way to play scripts: in memory, or through a real provider package against a local server. */
export interface ModelKit {
  name: string;
  play(script: ScriptedStep[]): Promise<PlayedModel>;
}
