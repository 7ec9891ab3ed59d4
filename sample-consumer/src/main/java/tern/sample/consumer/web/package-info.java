/** The HTTP API of the sample. Each HTTP request makes one call to the provider. */
@NullMarked
package tern.sample.consumer.web;

import org.jspecify.annotations.NullMarked;
