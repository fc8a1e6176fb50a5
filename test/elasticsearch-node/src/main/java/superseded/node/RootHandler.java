package superseded.node;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.Build;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.node.Node;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.xcontent.XContentBuilder;

/** Answers {@code GET /} and {@code HEAD /}, which clients use to learn the version. */
final class RootHandler extends BaseRestHandler {
  private final ClusterService clusterService;

  RootHandler(ClusterService clusterService) {
    this.clusterService = clusterService;
  }

  @Override
  public String getName() {
    return "test_node_root";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.GET, "/"), new Route(RestRequest.Method.HEAD, "/"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    return channel -> channel.sendResponse(new RestResponse(RestStatus.OK, describe(channel.newBuilder())));
  }

  private XContentBuilder describe(XContentBuilder json) throws IOException {
    Build build = Build.current();
    json.startObject();
    json.field("name", Node.NODE_NAME_SETTING.get(clusterService.getSettings()));
    json.field("cluster_name", clusterService.getClusterName().value());
    json.field("cluster_uuid", clusterService.state().metadata().clusterUUID());
    json.startObject("version");
    json.field("number", build.qualifiedVersion());
    json.field("build_flavor", build.flavor());
    json.field("build_type", build.type().displayName());
    json.field("build_hash", build.hash());
    json.field("build_date", build.date());
    json.field("build_snapshot", build.isSnapshot());
    json.field("lucene_version", IndexVersion.current().luceneVersion().toString());
    json.field("minimum_wire_compatibility_version", build.minWireCompatVersion());
    json.field("minimum_index_compatibility_version", build.minIndexCompatVersion());
    json.endObject();
    return json.endObject();
  }
}
