import type { LanguageModel } from 'ai';

type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
/** What a model answers when it does not stream. */
export type ProviderResponse = Awaited<ReturnType<ProviderModel['doGenerate']>>;
/** What a model gives when it begins to stream. */
export type ProviderStream = Awaited<ReturnType<ProviderModel['doStream']>>;
/** One part of the stream. */
export type ProviderPart =
  ProviderStream['stream'] extends ReadableStream<infer PART> ? PART : never;

type Part<TYPE extends ProviderPart['type']> = Extract<ProviderPart, { type: TYPE }>;
type Block = Extract<ProviderResponse['content'][number], { type: 'text' | 'reasoning' }>;
type BlockPart = Part<
  'text-start' | 'text-delta' | 'text-end' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end'
>;

/** Puts the parts of a stream together to the answer that the model would have given without streaming. */
export class CollectedResponse {
  readonly #content: ProviderResponse['content'] = [];
  readonly #texts = new Map<string, Block>();
  readonly #reasonings = new Map<string, Block>();
  #warnings: ProviderResponse['warnings'] = [];
  #response: Part<'response-metadata'> | undefined;
  #finish: Part<'finish'> | undefined;

  add(part: ProviderPart): void {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        this.#addToBlock(this.#texts, 'text', part);
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#addToBlock(this.#reasonings, 'reasoning', part);
        break;
      case 'tool-result':
        /* A preview: the result itself comes later. */
        if (part.preliminary !== true) this.#content.push(part);
        break;
      case 'tool-call':
      case 'tool-approval-request':
      case 'file':
      case 'reasoning-file':
      case 'source':
        this.#content.push(part);
        break;
      case 'custom':
        /* Anthropic's package tells so that its stream begins: a whole answer has no such part, and a history no use for it. */
        if (part.kind !== 'anthropic.message_start') this.#content.push(part);
        break;
      case 'stream-start':
        this.#warnings = part.warnings;
        break;
      case 'response-metadata':
        this.#response = part;
        break;
      case 'finish':
        this.#finish = part;
        break;
      default:
    }
  }

  /** The whole answer. Throws when the model did not say that it had finished: its connection ended before, if in good order. */
  whole({ request, response }: ProviderStream): ProviderResponse {
    const finish = this.#finish;
    if (finish === undefined || finish.finishReason.unified === 'interrupted') {
      throw new Error("The model's stream ended before the model did.");
    }
    const { id, timestamp, modelId } = this.#response ?? {};
    return {
      content: this.#content,
      finishReason: finish.finishReason,
      usage: finish.usage,
      providerMetadata: finish.providerMetadata,
      request,
      response: { ...response, id, timestamp, modelId },
      warnings: this.#warnings,
    };
  }

  /** What a provider notes on a block it may note at the start, on the way, or at the end; the last note counts. */
  #addToBlock(open: Map<string, Block>, type: Block['type'], part: BlockPart): void {
    const block = open.get(part.id) ?? this.#openBlock(open, type, part.id);
    if ('delta' in part) block.text += part.delta;
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
    if (part.type === 'text-end' && block.type === 'text') block.citations = part.citations;
    if (part.type === 'text-end' || part.type === 'reasoning-end') open.delete(part.id);
  }

  #openBlock(open: Map<string, Block>, type: Block['type'], id: string): Block {
    const block: Block = { type, text: '' };
    this.#content.push(block);
    open.set(id, block);
    return block;
  }
}
