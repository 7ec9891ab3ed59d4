/** Records the web requests of an application as calls with ledgers and meters. */
@NullMarked
package tern.rpc.spring.autoconfigure.web;

import org.jspecify.annotations.NullMarked;
