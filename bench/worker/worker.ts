export { default } from './entry.ts'
export { LibraryObject } from './library-object.ts'
export { LoopObject } from './loop-object.ts'
export { Target } from './target.ts'
