/**
 * An application that calls the sample services. Its calls come from an HTTP API, or from a load at a constant rate.
 */
@NullMarked
package tern.sample.consumer;

import org.jspecify.annotations.NullMarked;
