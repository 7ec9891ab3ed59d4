/**
 * An application that calls the sample services, either on request through an HTTP API or as a constant-rate load.
 */
@NullMarked
package tern.sample.consumer;

import org.jspecify.annotations.NullMarked;
