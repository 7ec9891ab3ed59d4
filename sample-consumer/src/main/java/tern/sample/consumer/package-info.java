/** An application that calls the sample services, through an HTTP API and as a load at a constant rate. */
@NullMarked
package tern.sample.consumer;

import org.jspecify.annotations.NullMarked;
