/** An application that calls the sample services: over an HTTP API, and at a steady rate to see how they do. */
@NullMarked
package tern.sample.consumer;

import org.jspecify.annotations.NullMarked;
