export {
  type ScriptedCall,
  scriptedModel,
  type ScriptedModel,
  type ScriptedStep,
} from './scripted-model.ts';
export { storeConformance, type StoreConformanceCase } from './store-conformance.ts';
