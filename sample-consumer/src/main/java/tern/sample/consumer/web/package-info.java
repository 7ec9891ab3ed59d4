/** The HTTP API: one request, one call to the provider. */
@NullMarked
package tern.sample.consumer.web;

import org.jspecify.annotations.NullMarked;
