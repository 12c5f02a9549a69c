export { default } from './entry.ts'
export { RareObject } from './rare-object.ts'
export { Target } from './target.ts'
