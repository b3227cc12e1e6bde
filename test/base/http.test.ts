import * as assert from 'uvu/assert'
import { allowHeader, isMethod, type Method, type RouteMethod } from '../../lib/base/http.ts'
import { routeMethodOf } from '../../lib/routing/routing.ts'
import { describe } from '../helpers/describe.ts'

describe('http', (test) => {
	for (const name of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'HEAD', 'OPTIONS']) {
		test(`${name} is supported`, () => assert.ok(isMethod(name)))
	}
	for (const name of ['get', 'TRACE', 'CONNECT', 'PROPFIND', '', 'toString', '__proto__', 'GET ']) {
		test(`"${name}" is not supported`, () => assert.not(isMethod(name)))
	}

	const routes: [Method, RouteMethod | undefined][] = [
		['GET', 'GET'],
		['HEAD', 'GET'],
		['POST', 'POST'],
		['QUERY', 'QUERY'],
		['OPTIONS', undefined],
	]
	for (const [method, route] of routes) {
		test(`${method} calls a method for ${route}`, () => assert.is(routeMethodOf(method), route))
	}

	const allows: [RouteMethod[], string][] = [
		[[], 'OPTIONS'],
		[['GET'], 'GET, HEAD, OPTIONS'],
		[['DELETE', 'GET', 'DELETE'], 'GET, HEAD, DELETE, OPTIONS'],
		[['QUERY', 'PATCH', 'PUT', 'POST'], 'POST, PUT, PATCH, QUERY, OPTIONS'],
	]
	for (const [methods, header] of allows) {
		test(`Allow for ${methods.join(' ')} is ${header}`, () => assert.is(allowHeader(methods), header))
	}
})
