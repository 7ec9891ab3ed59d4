/** The interfaces and values shared by the sample applications: three services with their arguments and results. */
@NullMarked
package tern.sample.api;

import org.jspecify.annotations.NullMarked;
