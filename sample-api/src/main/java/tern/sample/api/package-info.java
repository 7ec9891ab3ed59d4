/** The contract of the sample applications: three services and their values. */
@NullMarked
package tern.sample.api;

import org.jspecify.annotations.NullMarked;
