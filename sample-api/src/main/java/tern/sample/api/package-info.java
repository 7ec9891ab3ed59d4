/** The interfaces and values that the sample applications share: three services and their arguments and results. */
@NullMarked
package tern.sample.api;

import org.jspecify.annotations.NullMarked;
