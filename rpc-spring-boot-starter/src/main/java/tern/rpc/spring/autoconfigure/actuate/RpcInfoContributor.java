package tern.rpc.spring.autoconfigure.actuate;

import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/** Adds the port, services and references to the response of Actuator's info endpoint, under {@code rpc}. */
final class RpcInfoContributor implements InfoContributor {

    private final RpcReporter reporter;

    RpcInfoContributor(RpcReporter reporter) {
        this.reporter = reporter;
    }

    @Override
    public void contribute(Info.Builder info) {
        RpcReport report = reporter.report();
        Map<String, Object> details = new LinkedHashMap<>();
        RpcReport.Server server = report.server();
        if (server != null && server.port() != null) {
            details.put("port", server.port());
        }
        if (server != null) {
            details.put(
                    "services",
                    server.services().stream().map(RpcReport.Service::key).toList());
        }
        details.put(
                "references",
                report.references().stream().map(RpcReport.Reference::service).toList());
        info.withDetail("rpc", details);
    }
}
