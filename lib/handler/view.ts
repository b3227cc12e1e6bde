/** The view: the `this` of one request, which holds its exchange for the members of `RestHandler`. */
import type { Exchange } from '../exchange/exchange.ts'

const EXCHANGE: unique symbol = Symbol('verbena.exchange')

interface View {
	[EXCHANGE]?: Exchange
}

/**
 * A function that makes the views of a mount. `layer` is their prototype: what belongs to the mount, over the shared, frozen
 * handler.
 */
export function viewsOf(layer: object): (exchange: Exchange) => object {
	// A constructor, as its instances get their slot at once, unlike those of Object.create.
	function View(this: View, exchange: Exchange): void {
		this[EXCHANGE] = exchange
	}
	View.prototype = layer
	const construct = View as unknown as new (exchange: Exchange) => object
	return (exchange) => new construct(exchange)
}

/** Makes one view per request: what one hook sets on it, the next must find. */
export function viewOnce(make: (exchange: Exchange) => object): (exchange: Exchange) => object {
	return (exchange) => {
		exchange.view ??= make(exchange)
		return exchange.view
	}
}

/**
 * Makes a factory's instance the view of a request.
 *
 * @throws TypeError when it is one already, as two requests would share its state
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

/**
 * The exchange of a view.
 *
 * @throws TypeError that names the member, when it is no view
 */
export function exchangeOf(view: object, member: string): Exchange {
	const exchange = (view as View)[EXCHANGE]
	if (exchange === undefined) throw outsideRequest(view, member)
	return exchange
}

/** The error of a member that is used outside of a request. */
export function outsideRequest(view: object, member: string): TypeError {
	return new TypeError(
		`this.${member} of ${view.constructor.name} was used outside of a request: it works in the methods that a request calls, whose \`this\` is made for that request`,
	)
}
