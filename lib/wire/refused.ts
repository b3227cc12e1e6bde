/** `Refused`: the type by which a client's types know what a method refuses with. */

declare const refused: unique symbol

/** The type of what `this.error()` returns: null at run time, and dropped from a client's types. */
export interface Refused {
	readonly [refused]: true
}
