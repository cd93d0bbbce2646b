import type { LanguageModel } from 'ai';

type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
/** The response of a model that does not stream. */
export type ProviderResponse = Awaited<ReturnType<ProviderModel['doGenerate']>>;
/** The response of a model that streams. */
export type ProviderStream = Awaited<ReturnType<ProviderModel['doStream']>>;
/** A part of the stream. */
export type ProviderPart =
  ProviderStream['stream'] extends ReadableStream<infer PART> ? PART : never;

type Part<TYPE extends ProviderPart['type']> = Extract<ProviderPart, { type: TYPE }>;
type Block = Extract<ProviderResponse['content'][number], { type: 'text' | 'reasoning' }>;
type BlockPart = Part<
  'text-start' | 'text-delta' | 'text-end' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end'
>;

/** Collects the parts of a stream into the response that the model would have returned without streaming. */
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
        /* A preview: the final result follows. */
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
        /* Anthropic's package marks the start of its stream with this part, which a complete response does not have. */
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

  /** The complete response. Throws if the stream ended without a finish part: the connection was lost. */
  whole({ request, response }: ProviderStream): ProviderResponse {
    const finish = this.#finish;
    if (finish === undefined || finish.finishReason.unified === 'interrupted') {
      throw new Error("The model's stream ended without a finish part.");
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

  /** A provider may attach metadata to a block at its start, in the middle, or at its end; the last one counts. */
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
