export { default } from './entry.ts'
export { LoopObject } from './loop-object.ts'
export { Target } from './target.ts'
