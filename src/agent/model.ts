/* The part of `model/` that the rest of the package may use: channels, the middleware. Nothing in `agent` imports this. */
export {
  CollectedResponse,
  type ProviderPart,
  type ProviderResponse,
  type ProviderStream,
  type ModelDelta,
} from './model/streaming-model.ts';
export { carriesApproval } from './model/provider-requests.ts';
