package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.ServiceKey;
import tern.rpc.metrics.RpcMeters;

/** Tests the messages about services that the server does not export. */
class UnknownServiceTest {

    interface Reading {
        String read();
    }

    interface Writing {
        void write(String text);
    }

    interface Notes extends Reading, Writing {}

    interface Diaries extends Reading {}

    static class Paper implements Notes, Diaries {
        @Override
        public String read() {
            return "";
        }

        @Override
        public void write(String text) {
            // The test never calls this method.
        }
    }

    private static HandlerRegistry exporting(ServiceExport... exports) {
        return new HandlerRegistry(
                List.of(exports),
                List.of(),
                new MethodLimits(Map.of(), 1, System::nanoTime),
                RpcMeters.withoutRegistry(),
                false,
                false,
                System::nanoTime);
    }

    private static void assertMessage(HandlerRegistry registry, Class<?> called, String message) {
        assertThatThrownBy(() -> registry.service(called.getName()))
                .isInstanceOf(RpcException.class)
                .hasMessage(message);
        assertThatThrownBy(() -> registry.require(new ServiceKey(called.getName(), "", "")))
                .isInstanceOf(RpcException.class)
                .hasMessage(message);
    }

    @Test
    void superInterfaceOfAnExportedInterfaceIsAnsweredWithTheExportedOne() {
        HandlerRegistry registry = exporting(ServiceExport.of(Notes.class, new Paper()));

        String notes = Notes.class.getName();
        String reading = Reading.class.getName();
        assertMessage(
                registry,
                Reading.class,
                "UNIMPLEMENTED: service " + reading + " is not exported here; exported services: " + notes + "; "
                        + notes + " extends it: call " + notes + ", or export " + reading
                        + " as well (in Spring with interfaces in @RpcService)");
    }

    @Test
    void superInterfaceOfSeveralExportedInterfacesIsAnsweredWithAllOfThem() {
        HandlerRegistry registry =
                exporting(ServiceExport.of(Notes.class, new Paper()), ServiceExport.of(Diaries.class, new Paper()));

        String both = Diaries.class.getName() + ", " + Notes.class.getName();
        String reading = Reading.class.getName();
        assertMessage(
                registry,
                Reading.class,
                "UNIMPLEMENTED: service " + reading + " is not exported here; exported services: " + both + "; " + both
                        + " extend it: call one of these, or export " + reading
                        + " as well (in Spring with interfaces in @RpcService)");
    }
}
