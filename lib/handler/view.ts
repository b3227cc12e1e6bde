/** Views: the `this` of one request. A view stores the request's exchange for the members of `RestHandler`. */
import type { Exchange } from '../exchange/exchange.ts'

const EXCHANGE: unique symbol = Symbol('verbena.exchange')

interface View {
	[EXCHANGE]?: Exchange
}

/**
 * A function that creates the views of a mount. Their prototype has the properties of the mount, and inherits from the
 * shared, frozen handler.
 */
export function viewConstructor(prototype: object): (exchange: Exchange) => object {
	// A constructor: unlike with Object.create, V8 allocates the property in the object.
	function View(this: View, exchange: Exchange): void {
		this[EXCHANGE] = exchange
	}
	View.prototype = prototype
	const construct = View as unknown as new (exchange: Exchange) => object
	return (exchange) => new construct(exchange)
}

/** Creates one view per request, so that hooks and the method share it. */
export function onePerRequest(make: (exchange: Exchange) => object): (exchange: Exchange) => object {
	return (exchange) => {
		exchange.view ??= make(exchange)
		return exchange.view
	}
}

/**
 * Turns a factory's instance into the view of a request.
 *
 * @throws TypeError if it is a view already: two requests would share its state
 */
export function becomeView(instance: object, exchange: Exchange): object {
	const view = instance as View
	if (view[EXCHANGE] !== undefined || Object.isFrozen(instance)) {
		throw new TypeError(
			`the factory has returned the same ${instance.constructor.name} twice: return a new one for each request, or mount the instance itself`,
		)
	}
	view[EXCHANGE] = exchange
	return view
}

/** The exchange of a view. @throws TypeError that names the member, when the object isn't a view */
export function exchangeOf(view: object, member: string): Exchange {
	const exchange = (view as View)[EXCHANGE]
	if (exchange === undefined) throw outsideRequest(view, member)
	return exchange
}

/** The exchange of a view; `undefined` for an object that isn't one. */
export function findExchange(view: object): Exchange | undefined {
	return (view as View)[EXCHANGE]
}

export function outsideRequest(view: object, member: string): TypeError {
	return new TypeError(
		`this.${member} of ${view.constructor.name} was used outside of a request: it works in the methods that a request calls, whose \`this\` is made for that request`,
	)
}
