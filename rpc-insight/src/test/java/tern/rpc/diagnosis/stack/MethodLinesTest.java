package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import shop.Invoicing;

class MethodLinesTest {

    @Test
    void methodIsShownWithItsLinesIncludingItsLambdas() {
        assertThat(MethodLines.shown(Invoicing.class, "invoice")).isEqualTo("Invoicing.invoice:10-17");
    }

    @Test
    void methodOfOneLineIsShownWithThisLine() {
        assertThat(MethodLines.shown(Invoicing.class, "pay")).isEqualTo("Invoicing.pay:21");
    }

    @Test
    void linesOfSeveralMethodsWithOneNameAreOmitted() {
        assertThat(MethodLines.shown(Invoicing.class, "print")).isEqualTo("Invoicing.print");
    }

    @Test
    void inheritedMethodHasNoLines() {
        assertThat(MethodLines.shown(Invoicing.class, "toString")).isEqualTo("Invoicing.toString");
    }

    @Test
    void generatedSubclassIsShownAsItsSuperclass() {
        assertThat(MethodLines.shown(Generated$$Proxy.class, "pay")).isEqualTo("Invoicing.pay:21");
    }

    private static final class Generated$$Proxy extends Invoicing {}
}
